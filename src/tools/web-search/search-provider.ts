import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';

/** One query for a search service. */
export type SearchQuery = {
  readonly text: string;
  readonly resultsMax: number;
  /** How many characters of each page are used, for services that send the text of pages. */
  readonly charactersMax: number;
  /** Hosts, including their subdomains. Filters that a service does not support are applied afterwards. */
  readonly allowedHosts: readonly string[];
  readonly blockedHosts: readonly string[];
  readonly location: {
    readonly city?: string;
    readonly region?: string;
    /** Two capital letters, ISO 3166-1. */
    readonly country?: string;
    /** IANA name. */
    readonly timezone?: string;
  };
};

/** One page that a service found. */
export type SearchResult = {
  readonly url: string;
  readonly title?: string;
  /** The service's description of the page, as plain text. */
  readonly snippet?: string;
  /** The text of the page, if the service has read it. */
  readonly pageText?: string;
  readonly date?: string;
  /** From 0 to 1. */
  readonly score?: number;
};

/** An HTTP request to a service. */
type SearchRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
};

/** Why a service gave no results. The operator must fix `credentials` and `refused`. */
export type SearchProblem = 'unavailable' | 'timed-out' | 'quota' | 'credentials' | 'refused';

/** A search service: how to write its requests and read its answers. It is pure; askProvider sends the requests. */
export type SearchProvider = {
  readonly id: SearchProviderId;
  /** Absent if every user of the service has an address of their own. */
  readonly defaultBaseUrl?: string;
  readonly needsKey: boolean;
  readonly buildRequest: (query: SearchQuery, apiKey: string | undefined) => SearchRequest;
  /** Undefined if the body is not a search result. */
  readonly readResults: (body: JsonValue) => readonly SearchResult[] | undefined;
  /** The meaning of an answer other than 200. Absent or undefined: the usual meaning of the status. */
  readonly readProblem?: (status: number, body: JsonValue | undefined) => SearchProblem | undefined;
};

/** In the order in which their environment variables are looked up. */
export const searchProviderIds = ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const;
export type SearchProviderId = (typeof searchProviderIds)[number];
