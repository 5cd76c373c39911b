/** Scripts without spaces between words, or with endings attached to them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}々ー]+/gu;
const korean = /\p{Script=Hangul}+/gu;
const words = /[\p{L}\p{N}\p{M}]+/gu;

let segmenter: Intl.Segmenter | undefined;

/** Splits a text by the dictionary, which is loaded on first use. */
const piecesOf = (text: string): Iterable<Intl.SegmentData> =>
  (segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' })).segment(text);

/**
 * Writes a text as separated words for the index. Chinese, Japanese and similar scripts are split by dictionary, long
 * words also into overlapping pairs of characters. Korean words, whose endings change, become only such pairs. Queries
 * are treated the same way, so that both match.
 */
export function toTerms(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(unspaced, (run) => ` ${Array.from(piecesOf(run), ({ segment }) => withParts(segment)).join(' ')} `)
    .replaceAll(korean, (run) => ` ${pairs(run)} `);
}

/** Adds the parts of a compound word of the dictionary. */
function withParts(word: string): string {
  const parts = pairs(word);
  return parts === word ? word : `${word} ${parts}`;
}

function pairs(run: string): string {
  const syllables = Array.from(run);
  if (syllables.length < 3) return run;
  return syllables
    .slice(1)
    .map((syllable, at) => `${syllables[at] ?? ''}${syllable}`)
    .join(' ');
}

/** The maximum of words of a query that are searched. */
const queryTermsMax = 64;

/**
 * Writes a query as an expression of the index that matches any of its words. Every word is quoted and contains only
 * letters and digits, so that no part of a query is read as an operator. Undefined if the query contains no words.
 */
export function matchExpression(query: string): string | undefined {
  const found = new Set(toTerms(query.slice(0, queryCharactersMax)).toLowerCase().match(words));
  if (found.size === 0) return undefined;
  return [...found]
    .slice(0, queryTermsMax)
    .map((word) => `"${word}"`)
    .join(' OR ');
}

/** How many characters of a query are read. */
export const queryCharactersMax = 4096;
