import { itemsOf, membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';
import { describeResult } from './describe-result.ts';
import { addSiteOperators } from './site-operators.ts';
import { plainSnippet } from './plain-snippet.ts';

/** The limit of the service: https://api-dashboard.search.brave.com/app/documentation/web-search/query */
const queryCharactersMax = 400;
const queryWordsMax = 50;
const resultsMax = 20;

/** The countries that it can search from. Any other is only sent as the user's location. */
const countries = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(' '),
);

/** Brave Search, web results: https://api-dashboard.search.brave.com/app/documentation/web-search/responses */
export const brave: SearchProvider = {
  id: 'brave',
  defaultBaseUrl: 'https://api.search.brave.com',
  needsKey: true,
  buildRequest: (query, apiKey) => {
    const { city, region, country, timezone } = query.location;
    const text = query.text.split(/\s+/).slice(0, queryWordsMax).join(' ');
    const parameters = new URLSearchParams({
      q: addSiteOperators({ ...query, text }, queryCharactersMax),
      count: String(Math.min(resultsMax, query.resultsMax)),
      result_filter: 'web',
      extra_snippets: 'true',
      ...(country !== undefined && countries.has(country) ? { country } : {}),
    });
    return {
      method: 'GET',
      path: `/res/v1/web/search?${parameters.toString()}`,
      headers: {
        'x-subscription-token': apiKey ?? '',
        ...locationHeader('x-loc-city', city),
        ...locationHeader('x-loc-state-name', region),
        ...locationHeader('x-loc-country', country),
        ...locationHeader('x-loc-timezone', timezone),
      },
    };
  },
  readResults: (body) => {
    const { type, web } = membersOf(body);
    // If no page was found, there is no `web`.
    if (type !== 'search') return undefined;
    return objectsOf(membersOf(web)['results']).flatMap(({ url, title, description, extra_snippets: extra, page_age: date }) => {
      const snippets = [description, ...itemsOf(extra)].map(plainSnippet);
      return describeResult({ url, title: plainSnippet(title), snippet: snippets.filter((text) => text !== '').join('\n'), date });
    });
  },
  readProblem: (status, body) => {
    const { code } = membersOf(membersOf(body)['error']);
    if (code === 'SUBSCRIPTION_TOKEN_INVALID') return 'credentials';
    if (code === 'QUOTA_LIMITED' || code === 'USAGE_LIMIT_EXCEEDED') return 'quota';
    return status === 422 ? 'refused' : undefined;
  },
};

/** Header values are ASCII, so other values are left out. */
function locationHeader(name: string, value: string | undefined): Readonly<Record<string, string>> {
  return value !== undefined && /^[\x20-\x7e]{1,100}$/.test(value) ? { [name]: value } : {};
}
