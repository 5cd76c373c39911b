import type { TextlintRuleReporter } from '@textlint/kernel';

import type { Passage, Prose } from '../extract-prose.ts';

/** A rule that reads whole passages. The message is reported at the passage's first paragraph. */
function passageRule(prose: Prose, check: (text: string, passage: Passage) => string | undefined): TextlintRuleReporter {
  return ({ Syntax, RuleError, report }) => ({
    [Syntax.Document]: (node) => {
      for (const passage of prose.passages) {
        const [start, end] = [passage.paragraphs[0]?.start, passage.paragraphs.at(-1)?.end];
        if (start === undefined || end === undefined) continue;
        const message = check(prose.text.slice(start, end), passage);
        if (message !== undefined) report(node, new RuleError(message, { index: start }));
      }
    },
  });
}

const emptyWords = new Set(
  'a an the of for to in on by with and or is are it its this that these one all each returns return get gets'.split(' '),
);

/** The beginning of a word, without the endings of plurals and verbs. */
const stem = (word: string): string => word.replace(/(?:ies|es|s|ed|ing|e|y)$/, '');

const stemsOf = (text: string): readonly string[] =>
  (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [])
    .map((word) => word.toLowerCase())
    .filter((word) => !emptyWords.has(word))
    .map(stem);

/** Reports a docstring whose every word is in the name that it describes. */
export function wordlessDocstrings(prose: Prose): TextlintRuleReporter {
  return passageRule(prose, (text, { kind, declaredName }) => {
    if (kind !== 'docstring' || declaredName === undefined || text.includes('_')) return undefined;
    const known = new Set(stemsOf(declaredName));
    return stemsOf(text).every((word) => known.has(word))
      ? `"${text.trim()}" only repeats the name -> say what the name does not, or remove it`
      : undefined;
  });
}

/** Reports titles of tests that are not a sentence about behaviour. */
export function testTitles(prose: Prose): TextlintRuleReporter {
  return passageRule(prose, (text, { kind }) => {
    if (kind !== 'test-title') return undefined;
    const title = text.trim();
    if (/^should\b/i.test(title)) return `"${title}" -> say what happens: "returns ...", not "should return ..."`;
    if (title.endsWith('.')) return `"${title}" -> no full stop at the end of a title`;
    if (title.split(/\s+/).length < 3) return `"${title}" -> a sentence in the present tense about behaviour`;
    return undefined;
  });
}
