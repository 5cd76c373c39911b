import { filledText, numberOf } from '../../../platform/json/json-readers.ts';
import type { SearchResult } from '../search-provider.ts';

/**
 * Builds a result from a service's unchecked values. A value of a wrong type counts as absent, and a result without an
 * address is none.
 * @param parts.score the service's score; it is used if it is between 0 and 1
 */
export function describeResult(parts: {
  readonly url: unknown;
  readonly title?: unknown;
  readonly snippet?: unknown;
  readonly pageText?: unknown;
  readonly date?: unknown;
  readonly score?: unknown;
}): readonly SearchResult[] {
  const url = filledText(parts.url);
  if (url === undefined) return [];
  const title = filledText(parts.title);
  const snippet = filledText(parts.snippet);
  const pageText = filledText(parts.pageText);
  const date = filledText(parts.date);
  const score = numberOf(parts.score);
  return [
    {
      url,
      ...(title === undefined ? {} : { title }),
      ...(snippet === undefined ? {} : { snippet }),
      ...(pageText === undefined ? {} : { pageText }),
      ...(date === undefined ? {} : { date }),
      ...(score === undefined || score < 0 || score > 1 ? {} : { score }),
    },
  ];
}
