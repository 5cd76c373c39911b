import type { TextlintRuleReporter } from '@textlint/kernel';

/** Other words may be repeated: "an action that throws throws". */
const functionWords = 'a|an|and|are|as|at|be|but|by|for|from|if|in|is|it|its|no|not|of|on|or|so|than|the|then|they|this|to|was|with';
const repeated = new RegExp(String.raw`(?<![\w'"-])(${functionWords})\s+\1(?![\w'-])`, 'gi');

/** Reports a word that is written twice in succession. */
export const repeatedWords: TextlintRuleReporter = ({ Syntax, RuleError, report, getSource }) => ({
  [Syntax.Str]: (node) => {
    for (const { 0: words, 1: word = '', index } of getSource(node).matchAll(repeated)) {
      report(node, new RuleError(`"${words.replace(/\s+/g, ' ')}" -> write "${word}" once`, { index }));
    }
  },
});
