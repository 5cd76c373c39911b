import { filledText, membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';
import { describeResult } from './describe-result.ts';
import { addSiteOperators } from './site-operators.ts';

const queryCharactersMax = 2000;
const resultsMax = 100;

/** Serper: https://serper.dev/playground */
export const serper: SearchProvider = {
  id: 'serper',
  defaultBaseUrl: 'https://google.serper.dev',
  needsKey: true,
  buildRequest: (query, apiKey) => {
    const { city, region, country } = query.location;
    const place = [city, region, country === undefined ? undefined : countryName(country)].filter((part) => part !== undefined).join(', ');
    return {
      method: 'POST',
      path: '/search',
      headers: { 'x-api-key': apiKey ?? '' },
      body: {
        q: addSiteOperators(query, queryCharactersMax),
        num: Math.min(resultsMax, query.resultsMax),
        ...(country === undefined ? {} : { gl: country.toLowerCase() }),
        ...(city === undefined && region === undefined ? {} : { location: place }),
      },
    };
  },
  readResults: (body) => {
    const { organic } = membersOf(body);
    if (!Array.isArray(organic)) return undefined;
    return objectsOf(organic).flatMap(({ link: url, title, snippet, date }) => describeResult({ url, title, snippet, date }));
  },
  readProblem: (status, body) => {
    const message = filledText(membersOf(body)['message']) ?? '';
    if (status === 400 && /not enough credits/i.test(message)) return 'quota';
    return status === 403 ? 'credentials' : undefined;
  },
};

function countryName(country: string): string {
  return new Intl.DisplayNames('en', { type: 'region', fallback: 'code' }).of(country) ?? country;
}
