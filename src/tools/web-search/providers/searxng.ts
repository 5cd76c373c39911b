import { filledText, membersOf, numberOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';
import { addSiteOperators } from './site-operators.ts';
import { plainSnippet } from './plain-snippet.ts';

const queryCharactersMax = 1500;

/**
 * A SearXNG of one's own, whose settings have to allow the format `json`: https://docs.searxng.org/dev/search_api.html. Its scores have no upper bound, so that
 * they are given as shares of the best one.
 */
export const searxng: SearchProvider = {
  id: 'searxng',
  needsKey: false,
  buildRequest: (query, apiKey) => {
    const parameters = new URLSearchParams({ q: addSiteOperators(query, queryCharactersMax), format: 'json' });
    // Some stand behind a proxy that wants a key.
    return { method: 'GET', path: `/search?${parameters.toString()}`, headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` } };
  },
  readResults: (body) => {
    const { results } = membersOf(body);
    if (!Array.isArray(results)) return undefined;
    const found = objectsOf(results);
    const best = Math.max(0, ...found.map(({ score }) => numberOf(score) ?? 0));
    return found.flatMap(({ url, title, content, publishedDate, score }) => {
      const address = filledText(url);
      const said = numberOf(score);
      if (address === undefined) return [];
      return [
        {
          url: address,
          ...(filledText(title) === undefined ? {} : { title: plainSnippet(String(title)) }),
          ...(filledText(content) === undefined ? {} : { snippet: plainSnippet(String(content)) }),
          ...(filledText(publishedDate) === undefined ? {} : { date: String(publishedDate) }),
          ...(said === undefined || said < 0 || best === 0 ? {} : { score: said / best }),
        },
      ];
    });
  },
  // The answer of one whose settings do not allow JSON.
  readProblem: (status) => (status === 403 ? 'refused' : undefined),
};
