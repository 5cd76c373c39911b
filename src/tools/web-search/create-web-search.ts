import { GatewayError } from '../../inference/gateway-error.ts';
import type { WebSearchTool } from '../../inference/inference-request.ts';
import type { Logger } from '../../platform/log.ts';
import { allowedHostsOf, blockedHostsOf, createDomainFilter } from '../domain-filter.ts';
import type { GatewayTool, ToolOutcome, ToolRun, ToolFactories } from '../gateway-tool.ts';
import type { PageReader } from '../page-reader.ts';
import { askProvider, type ConfiguredProvider, SearchError } from './ask-provider.ts';
import { mergeResults } from './merge-results.ts';
import { readQueries, webSearchFunction } from './read-queries.ts';
import { depthOf, type SearchDepth } from './search-depth.ts';
import type { SearchProblem, SearchQuery, SearchResult } from './search-provider.ts';
import { readFoundPages } from './read-found-pages.ts';
import { writeFindings } from './write-findings.ts';

export type WebSearchOptions = {
  /**
   * Absent: no service is configured, and every request for the tool is refused with a message that names the setting.
   */
  readonly provider: ConfiguredProvider | undefined;
  readonly reader: PageReader;
  readonly logger: Logger;
  /** The maximum of sources for one search. */
  readonly resultsMax?: number;
  /** The maximum of pages that are read for one search. 0: the model receives only the service's snippets. */
  readonly pagesMax?: number;
};

/** The searches of one request. */
type Search = {
  readonly tenant: string;
  readonly provider: ConfiguredProvider;
  readonly depth: SearchDepth;
  readonly isWanted: (url: URL) => boolean;
  readonly query: Omit<SearchQuery, 'text'>;
  readonly options: WebSearchOptions;
};

/** Filters remove some results, so this many times as many are requested. */
const filterAllowance = 3;

/** Creates web search through the configured search service. */
export function createWebSearch(options: WebSearchOptions): ToolFactories['web-search'] {
  return (tool, { userName: tenant }) => {
    const { provider } = options;
    if (provider === undefined) throw missingProvider(tool);
    const depth = depthOf(tool.contextSize, options);
    const { allowedDomains, blockedDomains, userLocation } = tool;
    const filtered = (allowedDomains?.length ?? 0) + (blockedDomains?.length ?? 0) > 0;
    const { country, ...place } = userLocation ?? {};
    const search: Search = {
      tenant,
      provider,
      depth,
      isWanted: createDomainFilter(tool),
      query: {
        resultsMax: depth.sources * (filtered ? filterAllowance : 1),
        charactersMax: depth.charactersPerPage,
        allowedHosts: allowedHostsOf(tool),
        blockedHosts: blockedHostsOf(tool),
        location: { ...place, ...(country !== undefined && /^[a-z]{2}$/i.test(country) ? { country: country.toUpperCase() } : {}) },
      },
      options,
    };
    let usesLeft = tool.maxUses ?? Number.POSITIVE_INFINITY;
    return {
      kind: 'web-search',
      offer: webSearchFunction,
      readInput: readQueries,
      run: async (run) => {
        const requested = readQueries(run.arguments);
        const queries = requested.slice(0, usesLeft);
        if (requested.length === 0) return fail('invalid-input', 'web_search needs a query: {"query": "…"}. Nothing was searched.');
        if (queries.length === 0)
          return fail(
            'limit-reached',
            'The limit of web searches for this request is reached. Answer with what you have, and search no more.',
          );
        usesLeft -= queries.length;
        return await searchAll(search, queries, requested.slice(queries.length), run);
      },
    } satisfies GatewayTool;
  };
}

function missingProvider({ path }: WebSearchTool): GatewayError {
  const message = 'Web search is not set up on this gateway: its operator has to configure a search service as tools.webSearch.provider.';
  return new GatewayError('tool_unavailable', message, path === undefined ? {} : { param: path });
}

async function searchAll(search: Search, queries: readonly string[], notAsked: readonly string[], run: ToolRun): Promise<ToolOutcome> {
  const answers = await Promise.all(queries.map((text) => ask(search, text, run.signal)));
  if (run.signal.aborted) return fail('timed-out', 'The search was cancelled.');
  const lists = answers.filter((answer) => typeof answer !== 'string');
  const failures = answers.filter((answer) => typeof answer === 'string');
  const [failure] = failures;
  if (lists.length === 0 && failure !== undefined)
    return fail(
      failure === 'timed-out' ? 'timed-out' : 'unavailable',
      `${describeFailure(failure)} Say so, and answer with what you know.`,
    );
  const results = mergeResults(lists, search.isWanted, search.depth.sources);
  const pages = await readFoundPages(results, { ...search, reader: search.options.reader, queries, signal: run.signal });
  if (run.signal.aborted) return { ...fail('timed-out', 'The search was cancelled.'), usage: { webSearches: lists.length } };
  const notes = [
    ...(failures.length === 0 ? [] : [`${failures.length} of ${queries.length} queries could not be searched.`]),
    ...notAsked.map((query) => `The limit of searches left no room for "${query}".`),
  ];
  return { ...writeFindings(pages, { queries, notes, firstSource: run.firstSource }), usage: { webSearches: lists.length } };
}

/** Searches one query. Returns its results, or the problem. */
async function ask(
  { provider, query, options }: Search,
  text: string,
  signal: AbortSignal,
): Promise<readonly SearchResult[] | SearchProblem> {
  try {
    return await askProvider(provider, { ...query, text }, signal);
  } catch (error) {
    if (!(error instanceof SearchError)) return 'timed-out';
    const { problem, message } = error;
    const { id } = provider.provider;
    // A slow or unreachable service may recover; all other problems remain until the operator fixes them.
    if (problem === 'unavailable' || problem === 'timed-out')
      options.logger.warn({ provider: id, problem, reason: message }, 'web search failed');
    else options.logger.error({ provider: id, problem, reason: message }, 'web search failed');
    return problem;
  }
}

/** Describes a failure for the model, without details of the operator's account. */
function describeFailure(problem: SearchProblem): string {
  return problem === 'timed-out' ? 'The search service did not answer in time.' : 'The search service cannot be used at the moment.';
}

function fail(failure: NonNullable<ToolOutcome['shown']['failure']>, answer: string): ToolOutcome {
  return { answer, sources: [], shown: { failed: true, failure }, usage: {} };
}
