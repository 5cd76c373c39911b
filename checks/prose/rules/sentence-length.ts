import type { TextlintRuleReporter } from '@textlint/kernel';
import { split } from 'sentence-splitter';

/** Longer sentences are findings. */
const wordsMax = 40;
/** Longer sentences are warnings. */
const wordsAdvised = 30;

const countWords = (text: string): number => text.match(/[\w$'’-]+/g)?.length ?? 0;

/** Reports sentences that a reader has to hold in mind for too long. */
export const sentenceLength: TextlintRuleReporter = ({ Syntax, RuleError, report, getSource }) => ({
  [Syntax.Paragraph]: (node) => {
    const text = getSource(node)
      .replace(/\[([^\]]*)\]\([^)]*\)/g, (link, label: string) => label.padStart(link.length))
      // Code becomes a capitalised word, so that a sentence may begin with it.
      .replace(/`[^`]*`|_+/g, (code) => code.replace(/[^\n]/g, 'X'));
    if (countWords(text) <= wordsAdvised) return;
    for (const sentence of split(text)) {
      if (sentence.type !== 'Sentence') continue;
      const words = countWords(sentence.raw);
      const [index] = sentence.range;
      if (words > wordsMax) report(node, new RuleError(`a sentence of ${words} words -> split it; at most ${wordsMax}`, { index }));
      else if (words > wordsAdvised) report(node, new RuleError(`a sentence of ${words} words (warning)`, { index }));
    }
  },
});
