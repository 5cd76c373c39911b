import type { Finding } from './finding.ts';

/** Columns of a line of prose. Lines of code have the formatter's limit. */
export const proseColumnsMax = 120;

/** A line without a space in its text, such as a long address, cannot be broken. */
const canBreak = (line: string): boolean => /\S\s+\S/.test(line.trim().replace(/^(?:\/\*\*?|\*|\/\/|[-*+]|\d+\.)\s+/, ''));

function isProseOfTypeScript(lines: readonly string[]): readonly boolean[] {
  let inBlock = false;
  return lines.map((line) => {
    const trimmed = line.trimStart();
    const begins = trimmed.startsWith('/*');
    const isProse = inBlock || begins || trimmed.startsWith('// ');
    if (begins || inBlock) inBlock = !line.includes('*/');
    return isProse && !/^\/\/ (?:oxlint|prettier|@ts)-/.test(trimmed);
  });
}

function isProseOfMarkdown(lines: readonly string[]): readonly boolean[] {
  let fence: string | undefined;
  return lines.map((line) => {
    const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      return false;
    }
    // Tables, headings, link definitions and HTML comments have to stay on one line.
    return fence === undefined && !/^\s*(?:\||#|\[[^\]]+\]:|<!--)/.test(line);
  });
}

/** Lines of prose that are too long and could be broken. */
export function longLines(path: string, source: string): readonly Finding[] {
  const lines = source.split('\n');
  const prose = path.endsWith('.md') ? isProseOfMarkdown(lines) : isProseOfTypeScript(lines);
  return lines.flatMap((line, index) =>
    prose[index] === true && line.length > proseColumnsMax && canBreak(line)
      ? [
          {
            rule: 'line-length',
            line: index + 1,
            column: proseColumnsMax + 1,
            message: `${line.length} columns; lines of prose have at most ${proseColumnsMax}`,
            isWarning: false,
          },
        ]
      : [],
  );
}
