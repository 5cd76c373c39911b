import { longLines, proseColumnsMax } from './long-lines.ts';

/** Consecutive lines of one paragraph. `first` and `next` are the prefixes of its first and its other lines. */
type Block = { readonly first: string; readonly next: string; readonly texts: string[]; readonly lines: string[]; isLong: boolean };

/**
 * Words that would mean something else at the beginning of a line (a list, a heading, a tag) stay with the word before.
 */
const wordsOf = (text: string): readonly string[] => text.match(/\S+(?: (?:[-+*#>|@]\S*|\d+[.)])(?= |$))*/g) ?? [];

function breakLines({ first, next, texts }: Block): readonly string[] {
  const lines: string[] = [];
  let [prefix, line] = [first, ''];
  for (const word of wordsOf(texts.join(' '))) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > proseColumnsMax) {
      lines.push(prefix + line);
      [prefix, line] = [next, ''];
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, prefix + line];
}

type LineForm = {
  readonly first: string;
  readonly next: string;
  readonly text: string;
  /** Whether the line may continue the paragraph of the line before. */
  readonly mayContinue: boolean;
};

function formOfTypeScript(line: string): LineForm | undefined {
  const [, prefix, text] = /^(\s*(?:\*|\/\/) )(\S.*)$/.exec(line) ?? [];
  if (prefix === undefined || text === undefined) return undefined;
  return { first: prefix, next: prefix, text, mayContinue: !/^(?:@|[-*+] |\d+\. |```)/.test(text) };
}

function formOfMarkdown(line: string): LineForm | undefined {
  const [, prefix = '', text] = /^(\s*(?:(?:[-*+]|\d+\.)\s+)?)(\S.*)$/.exec(line) ?? [];
  if (text === undefined || /^(?:[|#>]|<!--|```|~~~|\[[^\]]+\]:)/.test(text)) return undefined;
  return { first: prefix, next: ' '.repeat(prefix.length), text, mayContinue: prefix.trim() === '' };
}

/** A docstring on one line becomes one of several, which the other rules then break. */
function openDocstring(line: string): readonly string[] {
  const [, indent, text] = /^(\s*)\/\*\*? (.*?) \*\/$/.exec(line) ?? [];
  if (indent === undefined || text === undefined) return [line];
  const parts = text.split(/ (?=@(?:param|throws|returns)\b)/);
  return [`${indent}/**`, ...parts.map((part) => `${indent} * ${part}`), `${indent} */`];
}

/** Breaks paragraphs that have a line of prose beyond the limit. Words and their order stay as they are. */
export function wrapProse(path: string, source: string): string {
  const isMarkdown = path.endsWith('.md');
  const tooLong = new Set(longLines(path, source).map(({ line }) => line));
  if (tooLong.size === 0) return source;
  const lines = source.split('\n').flatMap((line, index) => (isMarkdown || !tooLong.has(index + 1) ? [line] : openDocstring(line)));
  const longNow = new Set(longLines(path, lines.join('\n')).map(({ line }) => line));
  const result: string[] = [];
  let block: Block | undefined;
  const close = (): void => {
    if (block !== undefined) result.push(...(block.isLong ? breakLines(block) : block.lines));
    block = undefined;
  };
  lines.forEach((line, index) => {
    const form = (isMarkdown ? formOfMarkdown : formOfTypeScript)(line);
    const isLong = longNow.has(index + 1);
    if (form === undefined) {
      close();
      result.push(line);
    } else if (block !== undefined && form.mayContinue && form.first === block.next) {
      block.texts.push(form.text);
      block.lines.push(line);
      block.isLong ||= isLong;
    } else {
      close();
      block = { first: form.first, next: form.next, texts: [form.text], lines: [line], isLong };
    }
  });
  close();
  return result.join('\n');
}
