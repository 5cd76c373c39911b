import { membersOf, numberOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';
import { describeResult } from './describe-result.ts';
import { addSiteOperators } from './site-operators.ts';
import { plainSnippet } from './plain-snippet.ts';

const queryCharactersMax = 1500;

/**
 * A self-hosted SearXNG whose settings allow the format `json`: https://docs.searxng.org/dev/search_api.html. Its
 * scores have no upper bound, so they are divided by the best one.
 */
export const searxng: SearchProvider = {
  id: 'searxng',
  needsKey: false,
  buildRequest: (query, apiKey) => {
    const parameters = new URLSearchParams({ q: addSiteOperators(query, queryCharactersMax), format: 'json' });
    // Some instances are behind a proxy that requires a key.
    return {
      method: 'GET',
      path: `/search?${parameters.toString()}`,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    };
  },
  readResults: (body) => {
    const { results } = membersOf(body);
    if (!Array.isArray(results)) return undefined;
    const found = objectsOf(results);
    const best = Math.max(0, ...found.map(({ score }) => numberOf(score) ?? 0));
    return found.flatMap(({ url, title, content, publishedDate: date, score }) =>
      describeResult({
        url,
        title: plainSnippet(title),
        snippet: plainSnippet(content),
        date,
        ...(best === 0 ? {} : { score: (numberOf(score) ?? -1) / best }),
      }),
    );
  },
  readProblem: (status) => (status === 403 ? 'refused' : undefined),
};
