import { membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';
import { describeResult } from './describe-result.ts';

const resultsMax = 100;

/** Exa, whose results contain the text of pages: https://docs.exa.ai/reference/search */
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
    return objectsOf(results).flatMap(({ url, title, text: pageText, publishedDate: date, score }) =>
      describeResult({ url, title, pageText, date, score }),
    );
  },
  readProblem: (status, body) => {
    const { tag } = membersOf(body);
    if (tag === 'INVALID_API_KEY') return 'credentials';
    return status === 402 || tag === 'NO_MORE_CREDITS' || tag === 'API_KEY_BUDGET_EXCEEDED' ? 'quota' : undefined;
  },
};
