import type { SearchResult } from './search-provider.ts';

/**
 * Merges the results of several queries: the first of each, then the second of each. Each page occurs once. Results
 * that are not a web address, or are unwanted, are left out.
 */
export function mergeResults(
  lists: readonly (readonly SearchResult[])[],
  isWanted: (url: URL) => boolean,
  resultsMax: number,
): readonly SearchResult[] {
  const merged = new Map<string, SearchResult>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let rank = 0; rank < longest; rank += 1) {
    for (const list of lists) {
      const result = list[rank];
      const url = result === undefined ? null : URL.parse(result.url);
      if (result === undefined || url === null || !/^https?:$/.test(url.protocol) || !isWanted(url)) continue;
      url.hash = '';
      if (!merged.has(url.href)) merged.set(url.href, result);
      if (merged.size === resultsMax) return [...merged.values()];
    }
  }
  return [...merged.values()];
}
