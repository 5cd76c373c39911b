/** The parts of the output that differ from run to run. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d\b/g, '<day>'],
  [/\b(?:sk|bt)-weir-[\w…]+/g, '<secret>'],
  [/\b(?:req|resp|msg|vs|file|task|evt|conv|chatcmpl)[_-](?:[\w-]{8,}|…)/g, '<id>'],
  [/^[A-Za-z0-9]{10}(?= )/g, '<id>'],
];

function normalize(line: string): string {
  const spaced = line.trim().replaceAll(/\s+/g, ' ');
  return varying.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), spaced);
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** `…` stands for anything. */
function patternOf(line: string): RegExp {
  return new RegExp(`^${normalize(line).split('…').map(escape).join('.*')}$`);
}

/**
 * The first line of a sample that is missing in the output, if the others occur in their order; undefined if all occur.
 * The output may have more lines, because the gateway is shared.
 */
export function findMissingLine(sample: string, output: string): string | undefined {
  const printed = output.split('\n').map(normalize);
  let from = 0;
  for (const line of sample.split('\n')) {
    if (line.trim() === '' || line.trim() === '…') continue;
    const pattern = patternOf(line);
    const found = printed.findIndex((candidate, index) => index >= from && pattern.test(candidate));
    if (found === -1) return line;
    from = found + 1;
  }
  return undefined;
}
