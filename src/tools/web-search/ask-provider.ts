import type { JsonValue } from '../../platform/json/json-value.ts';
import type { SearchProblem, SearchProvider, SearchQuery, SearchResult } from './search-provider.ts';
import { loadUndici } from '../../platform/http/load-undici.ts';
import { parseJson } from '../../platform/json/parse-json.ts';

/** A search service with the operator's settings. */
export type ConfiguredProvider = {
  readonly provider: SearchProvider;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
};

/** Why a service gave no results. The message is for the log and contains neither a key nor the query. */
export class SearchError extends Error {
  readonly problem: SearchProblem;
  constructor(problem: SearchProblem, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'SearchError';
    this.problem = problem;
  }
}

const bodyBytesMax = 8 * 1024 * 1024;

/** Services answer with the usual status codes unless their provider reads the answer itself. */
const problemsByStatus: Readonly<Record<number, SearchProblem>> = {
  400: 'refused',
  401: 'credentials',
  402: 'quota',
  403: 'credentials',
  404: 'refused',
  422: 'refused',
  429: 'quota',
};

/**
 * Sends one query to a search service. The operator chose its address, which may be in a private network; redirects are
 * not followed. Rejects with SearchError, or with the signal's reason.
 */
export async function askProvider(
  configured: ConfiguredProvider,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<readonly SearchResult[]> {
  const { provider, timeoutMs } = configured;
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const { status, body } = await send(configured, query, AbortSignal.any([signal, timeout]));
    if (status !== 200) {
      const problem = provider.readProblem?.(status, body) ?? problemsByStatus[status] ?? 'unavailable';
      throw new SearchError(problem, `${provider.id} returned status ${status}`);
    }
    const results = body === undefined ? undefined : provider.readResults(body);
    if (results === undefined) throw new SearchError('unavailable', `${provider.id} returned a body that is not a search result`);
    return results;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SearchError) throw error;
    if (timeout.aborted) throw new SearchError('timed-out', `${provider.id} did not answer within ${timeoutMs} ms`, { cause: error });
    throw new SearchError('unavailable', `${provider.id} cannot be reached (${codeOf(error)})`, { cause: error });
  }
}

async function send(
  { provider, baseUrl, apiKey }: ConfiguredProvider,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: JsonValue | undefined }> {
  const { method, path, headers, body } = provider.buildRequest(query, apiKey);
  const { request } = await loadUndici();
  const answer = await request(`${baseUrl.replace(/\/+$/, '')}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'weir',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytesMax) throw new SearchError('unavailable', `${provider.id} returned more than ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.statusCode, body: parse(Buffer.concat(chunks, length).toString('utf8')) };
}

function parse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    // For example a page of a proxy. The status says enough.
    return undefined;
  }
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : 'no connection';
}
