import { membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { SearchProvider } from '../search-provider.ts';
import { describeResult } from './describe-result.ts';

/** The limit of the service: https://docs.tavily.com/documentation/api-reference/endpoint/search */
const queryCharactersMax = 400;
const resultsMax = 20;
const allowedHostsMax = 300;
const blockedHostsMax = 150;

/**
 * The service expects English names of countries and refuses unknown ones, so only names that its page lists are sent.
 */
const countries: Readonly<Record<string, string>> = {
  AR: 'argentina',
  AT: 'austria',
  AU: 'australia',
  BE: 'belgium',
  BR: 'brazil',
  CA: 'canada',
  CH: 'switzerland',
  CL: 'chile',
  CN: 'china',
  CO: 'colombia',
  DE: 'germany',
  DK: 'denmark',
  EG: 'egypt',
  ES: 'spain',
  FI: 'finland',
  FR: 'france',
  GB: 'united kingdom',
  GR: 'greece',
  HU: 'hungary',
  ID: 'indonesia',
  IE: 'ireland',
  IL: 'israel',
  IN: 'india',
  IT: 'italy',
  JP: 'japan',
  KE: 'kenya',
  KR: 'south korea',
  MX: 'mexico',
  MY: 'malaysia',
  NG: 'nigeria',
  NL: 'netherlands',
  NO: 'norway',
  NZ: 'new zealand',
  PH: 'philippines',
  PK: 'pakistan',
  PL: 'poland',
  PT: 'portugal',
  RO: 'romania',
  RU: 'russia',
  SA: 'saudi arabia',
  SE: 'sweden',
  SG: 'singapore',
  TH: 'thailand',
  TR: 'turkey',
  TW: 'taiwan',
  UA: 'ukraine',
  US: 'united states',
  VN: 'vietnam',
  ZA: 'south africa',
};

/**
 * Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search. The gateway reads the pages, because
 * their text costs extra there.
 */
export const tavily: SearchProvider = {
  id: 'tavily',
  defaultBaseUrl: 'https://api.tavily.com',
  needsKey: true,
  buildRequest: (query, apiKey) => {
    const country = query.location.country === undefined ? undefined : countries[query.location.country];
    return {
      method: 'POST',
      path: '/search',
      headers: { authorization: `Bearer ${apiKey ?? ''}` },
      body: {
        query: query.text.slice(0, queryCharactersMax),
        search_depth: 'basic',
        max_results: Math.min(resultsMax, query.resultsMax),
        ...(query.allowedHosts.length === 0 ? {} : { include_domains: query.allowedHosts.slice(0, allowedHostsMax) }),
        ...(query.blockedHosts.length === 0 ? {} : { exclude_domains: query.blockedHosts.slice(0, blockedHostsMax) }),
        ...(country === undefined ? {} : { topic: 'general', country }),
      },
    };
  },
  readResults: (body) => {
    const { results } = membersOf(body);
    if (!Array.isArray(results)) return undefined;
    return objectsOf(results).flatMap(({ url, title, content: snippet, published_date: date, score }) =>
      describeResult({ url, title, snippet, date, score }),
    );
  },
  readProblem: (status) => (status === 432 || status === 433 ? 'quota' : undefined),
};
