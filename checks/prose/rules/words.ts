import type { TextlintRuleReporter } from '@textlint/kernel';

import { readWordList } from '../word-list.ts';

/** The beginning of a paragraph, or of a sentence in it. */
const sentenceStart = String.raw`(?<=(?<![\s\S])|[.!?:;]\s+)`;

function patternOf(phrase: string): string {
  const pattern = phrase.replace(/ /g, String.raw`\s+`).replace('^', sentenceStart);
  return String.raw`(?<![\w-])(?:${pattern})(?!\w)`;
}

const entries = readWordList().map(({ say, not }) => ({ say, pattern: new RegExp(not.map(patternOf).join('|'), 'gi') }));
/** Most paragraphs match nothing, and one pass finds that out. */
const anyEntry = new RegExp(entries.map(({ pattern }) => pattern.source).join('|'), 'i');

/** Reports the words and phrases of words.yaml, each with its suggestion. */
export const words: TextlintRuleReporter = ({ Syntax, RuleError, report, getSource }) => ({
  [Syntax.Str]: (node) => {
    // Words in quotation marks are mentioned, not used.
    const text = getSource(node).replace(/"[^"\n]{1,60}"|“[^”\n]{1,60}”/g, (quoted) => '_'.repeat(quoted.length));
    if (!anyEntry.test(text)) return;
    for (const { say, pattern } of entries) {
      for (const { 0: found, index } of text.matchAll(pattern)) {
        report(node, new RuleError(`"${found.replace(/\s+/g, ' ')}" -> ${say}`, { index }));
      }
    }
  },
});
