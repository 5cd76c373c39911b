import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';

/** One question to a search service. */
export type SearchQuery = {
  readonly text: string;
  readonly resultsMax: number;
  /** How much of each page is of use, for services that send the text of pages along. */
  readonly charactersMax: number;
  /** Hosts, whose subdomains are meant too. What a service cannot filter is filtered afterwards. */
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

/** One page that a service has found. */
export type SearchResult = {
  readonly url: string;
  readonly title?: string;
  /** What the service says of the page, as plain text. */
  readonly snippet?: string;
  /** The text of the page, where the service has read it. */
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

/** Why a service gave no results. `credentials` and `refused` are the operator's business. */
export type SearchProblem = 'unavailable' | 'timed-out' | 'quota' | 'credentials' | 'refused';

/** A search service: how it is asked, and what its answers mean. Pure: the sending is done by askProvider. */
export type SearchProvider = {
  readonly id: SearchProviderId;
  /** Absent where everyone has their own. */
  readonly defaultBaseUrl?: string;
  readonly needsKey: boolean;
  readonly buildRequest: (query: SearchQuery, apiKey: string | undefined) => SearchRequest;
  /** Undefined for a body that is no answer to a search. */
  readonly readResults: (body: JsonValue) => readonly SearchResult[] | undefined;
  /** What an answer other than 200 means. Absent, or undefined: what its status means everywhere. */
  readonly readProblem?: (status: number, body: JsonValue | undefined) => SearchProblem | undefined;
};

/** In the order in which their variables are looked for. */
export const searchProviderIds = ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const;
export type SearchProviderId = (typeof searchProviderIds)[number];
