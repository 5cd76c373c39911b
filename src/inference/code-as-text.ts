import type { ServerToolPart, TextPart } from './inference-request.ts';

/** How many characters of a run's output are sent to the model again. */
const outputCharactersMax = 20_000;

const fence = (text: string): string => `\`\`\`\n${text.endsWith('\n') ? text : `${text}\n`}\`\`\``;

/**
 * Writes code that ran earlier in the conversation, and its output, as text of the assistant, for upstreams that cannot
 * replay the run. Returns undefined for other tools, and if neither code nor output is known.
 */
export function codeAsText({ tool, input, results, failed, path }: ServerToolPart): TextPart | undefined {
  if (tool !== 'code-execution') return undefined;
  const code = input.join('\n');
  const output = (results ?? []).flatMap(({ text = '' }) => (text === '' ? [] : [text])).join('\n');
  const lines = [
    ...(code === '' ? [] : [`[Code that was run]\n${fence(code)}`]),
    ...(output === '' ? [] : [`[Its output]\n${fence(output.slice(0, outputCharactersMax))}`]),
    ...(failed === true ? ['[It failed.]'] : []),
  ];
  if (code === '' && output === '') return undefined;
  return { kind: 'text', text: lines.join('\n'), ...(path === undefined ? {} : { path }) };
}

/** The reason for the notes when a run is sent as text. */
export const codeAsTextReason = 'this upstream cannot replay code that ran elsewhere; code and output are sent as text';
