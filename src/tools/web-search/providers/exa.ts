import { filledText, membersOf, numberOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';

const resultsMax = 100;

/** Exa, which sends the text of pages along: https://docs.exa.ai/reference/search */
export const exa: SearchProvider = {
  id: 'exa',
  defaultBaseUrl: 'https://api.exa.ai',
  needsKey: true,
  buildRequest: (query, apiKey) => ({
    method: 'POST',
    path: '/search',
    headers: { 'x-api-key': apiKey ?? '' },
    body: {
      query: query.text,
      type: 'auto',
      numResults: Math.min(resultsMax, query.resultsMax),
      contents: { text: { maxCharacters: query.charactersMax } },
      ...(query.allowedHosts.length === 0 ? {} : { includeDomains: query.allowedHosts }),
      ...(query.blockedHosts.length === 0 ? {} : { excludeDomains: query.blockedHosts }),
      ...(query.location.country === undefined ? {} : { userLocation: query.location.country }),
    },
  }),
  readResults: (body) => {
    const { results } = membersOf(body);
    if (!Array.isArray(results)) return undefined;
    return objectsOf(results).flatMap(({ url, title, text, publishedDate, score }) => {
      const address = filledText(url);
      const said = numberOf(score);
      if (address === undefined) return [];
      return [
        {
          url: address,
          ...(filledText(title) === undefined ? {} : { title: String(title) }),
          ...(filledText(text) === undefined ? {} : { pageText: String(text) }),
          ...(filledText(publishedDate) === undefined ? {} : { date: String(publishedDate) }),
          ...(said === undefined || said < 0 || said > 1 ? {} : { score: said }),
        },
      ];
    });
  },
  readProblem: (status, body) => {
    const { tag } = membersOf(body);
    if (tag === 'INVALID_API_KEY') return 'credentials';
    return status === 402 || tag === 'NO_MORE_CREDITS' || tag === 'API_KEY_BUDGET_EXCEEDED' ? 'quota' : undefined;
  },
};
