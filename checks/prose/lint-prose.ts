import { TextlintKernel, type TextlintKernelOptions, type TextlintPluginCreator } from '@textlint/kernel';
import markdownPlugin from '@textlint/textlint-plugin-markdown';

import { extractProse, type Prose } from './extract-prose.ts';
import type { Finding } from './finding.ts';
import { longLines } from './long-lines.ts';
import { repeatedWords } from './rules/repeated-words.ts';
import { sentenceLength } from './rules/sentence-length.ts';
import { testTitles, wordlessDocstrings } from './rules/passage-rules.ts';
import { words } from './rules/words.ts';

const kernel = new TextlintKernel();

const commonRules = [
  { ruleId: 'words', rule: words },
  { ruleId: 'repeated-words', rule: repeatedWords },
  { ruleId: 'sentence-length', rule: sentenceLength },
];

/** A textlint plugin for one file whose prose was found already. */
function pluginFor(path: string, prose: Prose): TextlintPluginCreator {
  const starts = [0, ...[...prose.text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const positionOf = (offset: number): { line: number; column: number } => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) };
  };
  const node = (type: string, start: number, end: number) => ({
    type,
    raw: prose.text.slice(start, end),
    range: [start, end],
    loc: { start: positionOf(start), end: positionOf(end) },
  });
  const children = prose.passages.flatMap(({ paragraphs }) =>
    paragraphs.map(({ start, end }) => ({
      ...node('Paragraph', start, end),
      children: [{ ...node('Str', start, end), value: prose.text.slice(start, end) }],
    })),
  );
  const document = { ...node('Document', 0, prose.text.length), children };
  class Processor {
    availableExtensions(): string[] {
      return ['.ts'];
    }
    processor() {
      return {
        preProcess: () => document,
        postProcess: (messages: unknown) => ({ messages, filePath: path }),
      };
    }
  }
  return { Processor } as unknown as TextlintPluginCreator;
}

async function lintWith(path: string, text: string, options: Partial<TextlintKernelOptions>): Promise<Finding[]> {
  const ext = path.endsWith('.md') ? '.md' : '.ts';
  const { messages } = await kernel.lintText(text, { ext, filePath: path, ...options });
  return messages.map(({ ruleId, loc, message, severity }) => ({
    rule: ruleId,
    line: loc.start.line,
    column: loc.start.column,
    message,
    isWarning: severity === 1 || message.includes('(warning)'),
  }));
}

/** Lints one file. */
export async function lintProse(path: string, source: string): Promise<readonly Finding[]> {
  if (path.endsWith('.md')) {
    const options = { plugins: [{ pluginId: 'markdown', plugin: markdownPlugin.default }], rules: commonRules };
    return inOrder([...(await lintWith(path, source, options)), ...longLines(path, source)]);
  }
  const prose = extractProse(path, source);
  if (prose.passages.length === 0) return [];
  const rules = [
    ...commonRules,
    { ruleId: 'docstrings', rule: wordlessDocstrings(prose) },
    { ruleId: 'test-titles', rule: testTitles(prose) },
  ];
  const options = { plugins: [{ pluginId: 'typescript-prose', plugin: pluginFor(path, prose) }], rules };
  return inOrder([...(await lintWith(path, prose.text, options)), ...longLines(path, source)]);
}

const inOrder = (findings: readonly Finding[]): readonly Finding[] => findings.toSorted((a, b) => a.line - b.line || a.column - b.column);
