import type { SearchDocument } from './document.ts';

export type RankedDocument = { readonly document: SearchDocument; readonly score: number };

export type RankQuery = {
  readonly text: string;
  /** Hosts, subdomains included; empty for all. */
  readonly includeHosts: readonly string[];
  readonly excludeHosts: readonly string[];
};

/** The usual BM25 settings: the saturation of repetitions, and the weight of the document length. */
const k1 = 1.2;
const b = 0.75;
/** A word in the title counts like this many in the text. */
const titleWeight = 3;

/**
 * Ranks by BM25, best first; documents without any word of the query are omitted. `site:` operators in the query limit
 * the hosts, as in the simulated engines.
 */
export function createRanker(documents: readonly SearchDocument[]): (query: RankQuery) => readonly RankedDocument[] {
  const indexed = documents.map((document) => ({ document, ...countTerms(document) }));
  const average = indexed.reduce((sum, { length }) => sum + length, 0) / Math.max(1, indexed.length);
  const frequencies = new Map<string, number>();
  for (const { counts } of indexed) for (const term of counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return (query) => {
    const { words, includeHosts, excludeHosts } = readOperators(query);
    const terms = [...new Set(termsOf(words))];
    return indexed
      .filter(({ document }) => isWithin(document, includeHosts, true) && !isWithin(document, excludeHosts, false))
      .map(({ document, counts, length }) => {
        let score = 0;
        for (const term of terms) {
          const count = counts.get(term) ?? 0;
          const frequency = frequencies.get(term) ?? 0;
          const rarity = Math.log(1 + (indexed.length - frequency + 0.5) / (frequency + 0.5));
          score += (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + (b * length) / average));
        }
        return { document, score };
      })
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score);
  };
}

function countTerms({ title, text }: SearchDocument): { readonly counts: ReadonlyMap<string, number>; readonly length: number } {
  const counts = new Map<string, number>();
  const terms = [...termsOf(text), ...Array.from({ length: titleWeight }, () => termsOf(title)).flat()];
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** Words without their most common endings; for scripts without spaces, pairs of characters. */
function termsOf(text: string): readonly string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word))
      return word.length < 3 ? [word] : Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
    const stem = word.length > 4 ? word.replace(/(?:ies|es|s|ing|ed|e)$/, '') : word;
    return commonWords.has(word) ? [] : [stem];
  });
}

const commonWords = new Set(
  'a an and are as at be by for from has have how in is it of on or that the this to was what when which who why with'.split(' '),
);

function readOperators(query: RankQuery) {
  const includeHosts = [...query.includeHosts];
  const excludeHosts = [...query.excludeHosts];
  const words = query.text.replace(/(-?)site:([^\s()]{1,253})/g, (_, not: string, host: string) => {
    (not === '' ? includeHosts : excludeHosts).push(host.toLowerCase());
    return ' ';
  });
  return { words: words.replace(/\bOR\b/g, ' '), includeHosts, excludeHosts };
}

function isWithin({ site }: SearchDocument, hosts: readonly string[], whenEmpty: boolean): boolean {
  const own = `${site}.localhost`;
  return hosts.length === 0 ? whenEmpty : hosts.some((host) => own === host || own.endsWith(`.${host}`));
}
