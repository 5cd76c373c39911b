/** Scripts that are written without spaces between words, or with endings glued to them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}々ー]+/gu;
const korean = /\p{Script=Hangul}+/gu;
const words = /[\p{L}\p{N}\p{M}]+/gu;

let segmenter: Intl.Segmenter | undefined;

/** Pieces of a text by the dictionary, which is loaded when it is used first. */
const piecesOf = (text: string): Iterable<Intl.SegmentData> =>
  (segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' })).segment(text);

/**
 * A text as the index reads it: its words set apart. Chinese, Japanese and the like are cut by dictionary, long words also into overlapping
 * pairs of characters; Korean words, whose endings change, into such pairs alone. The same is done to what is looked for, so both are cut alike.
 */
export function toTerms(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(unspaced, (run) => ` ${Array.from(piecesOf(run), ({ segment }) => withParts(segment)).join(' ')} `)
    .replaceAll(korean, (run) => ` ${pairs(run)} `);
}

/** A word of the dictionary may be made of others, which are looked for as well. */
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

/** Words of a query that are looked for. */
const queryTermsMax = 64;

/**
 * What a query looks for, as an expression of the index: any of its words. Every word is quoted and holds letters and digits only, so nothing of a
 * query is ever read as an operator. Undefined where it has no word.
 */
export function matchExpression(query: string): string | undefined {
  const found = new Set(toTerms(query.slice(0, queryCharactersMax)).toLowerCase().match(words));
  if (found.size === 0) return undefined;
  return [...found]
    .slice(0, queryTermsMax)
    .map((word) => `"${word}"`)
    .join(' OR ');
}

/** Characters of a query that are looked at. */
export const queryCharactersMax = 4096;
