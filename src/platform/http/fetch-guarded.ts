import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import type { buildConnector, Dispatcher } from 'undici';

import { waitFor } from '../wait-for.ts';
import { FetchMediaError } from './fetch-media-error.ts';
import { loadUndici } from './load-undici.ts';

/** An IP address, with 4 or 6. */
type HostAddress = { readonly address: string; readonly family: number };

/** Finds the addresses of a host name. */
export type LookUpHost = (hostname: string) => Promise<readonly HostAddress[]>;

export type GuardedFetchOptions = {
  readonly lookUp: LookUpHost;
  /**
   * Called for every address of every host, also after redirects. One address that is not allowed refuses the whole
   * host.
   */
  readonly isAllowed: (address: string) => boolean;
  /** Also accepts http, and ports other than 443. */
  readonly allowAnyServer: boolean;
  /** Also accepts http, at port 80. */
  readonly allowHttp?: boolean;
  /** Also accepts ports other than the scheme's default. */
  readonly allowAnyPort?: boolean;
  /** Servers that the operator has named: they may be in any network, use any port, and speak http. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Called for the first URL and for each redirect. A URL for which it returns false is not fetched. */
  readonly isWanted?: (url: URL) => boolean;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Headers to send instead after a redirect to another origin, which must not see a credential. Default: the same
   * headers.
   */
  readonly headersElsewhere?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** An answer whose body is still to be read. */
export type GuardedAnswer = {
  readonly answer: Dispatcher.ResponseData;
  readonly url: URL;
  /** Ends the connection and discards the rest of the answer. */
  readonly close: () => Promise<void>;
};

const redirectsMax = 3;
const urlCharactersMax = 8192;
const headerBytesMax = 16_384;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches an untrusted address, passes the 200 answer and its final URL to `read`, and returns the result of `read`.
 * Each host is looked up once, all its addresses are checked, and the connection goes to a checked address, so that the
 * name cannot change in between. Redirects are treated the same. Rejects with FetchMediaError, or with the error of
 * `read`.
 */
export async function fetchGuarded<Result>(
  address: string,
  options: GuardedFetchOptions,
  read: (answer: Dispatcher.ResponseData, url: URL) => Promise<Result>,
): Promise<Result> {
  const { answer, url, close } = await getGuarded(address, options);
  try {
    return await read(answer, url);
  } finally {
    // The rest of the answer is of no use.
    await close();
  }
}

/** The same for a 200 answer that is read later. The caller must close it. Rejects with FetchMediaError. */
export async function getGuarded(address: string, options: GuardedFetchOptions): Promise<GuardedAnswer> {
  let url = parseUrl(address, undefined, options);
  let { headers } = options;
  for (let redirects = 0; ; redirects += 1) {
    const opened = await requestGuarded(url, { ...options, headers }, { method: 'GET' });
    if (opened.answer.statusCode === 200) return opened;
    await opened.close();
    const { statusCode } = opened.answer;
    const { location } = opened.answer.headers;
    if (!redirectStatuses.has(statusCode) || typeof location !== 'string') {
      throw new FetchMediaError('refused', `the URL's server answers with status ${statusCode}`);
    }
    if (redirects === redirectsMax) throw new FetchMediaError('refused', `the URL redirects more than ${redirectsMax} times`);
    const next = parseUrl(location, url, options);
    if (next.origin !== url.origin) headers = options.headersElsewhere ?? headers;
    url = next;
  }
}

/**
 * Posts to an untrusted address under the same checks. Resolves with the status; the rest of the answer is not read. No
 * redirect is followed. Rejects with FetchMediaError.
 */
export async function postGuarded(address: string, body: string, options: GuardedFetchOptions): Promise<number> {
  const { answer, close } = await requestGuarded(parseUrl(address, undefined, options), options, { method: 'POST', body });
  // The unread body fails when the connection closes. This error is expected.
  answer.body.on('error', () => undefined);
  await close();
  return answer.statusCode;
}

async function requestGuarded(
  url: URL,
  options: GuardedFetchOptions,
  request: { readonly method: 'GET' | 'POST'; readonly body?: string },
): Promise<GuardedAnswer> {
  const pinned = await resolveHost(url, options);
  const undici = await loadUndici();
  const client = new undici.Client(url.origin, {
    connect: createPinnedConnector(undici, pinned, url, options),
    allowH2: false,
    maxHeaderSize: headerBytesMax,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const { headers, signal } = options;
    const answer = await client.request({ ...request, path: url.pathname + url.search, headers: { ...headers }, signal });
    return { answer, url, close: () => client.destroy() };
  } catch (cause) {
    await client.destroy();
    throw unreachable(cause);
  }
}

/**
 * The error of a connection that failed. The reason is for the log only: to a third party it would reveal the network.
 */
export function unreachable(cause: unknown): FetchMediaError {
  return cause instanceof FetchMediaError ? cause : new FetchMediaError('unreachable', "the URL's server cannot be reached", { cause });
}

function parseUrl(address: string, base: URL | undefined, options: GuardedFetchOptions): URL {
  const what = base === undefined ? 'the URL' : 'the URL that it redirects to';
  const refuse = (reason: string): FetchMediaError => new FetchMediaError('invalid-url', `${what} ${reason}`);
  if (address.length > urlCharactersMax) throw refuse(`is longer than ${urlCharactersMax} characters`);
  const url = URL.parse(address, base);
  if (url === null) throw refuse('is not valid');
  const anyServer = options.allowAnyServer || options.isTrusted?.(url) === true;
  const http = anyServer || options.allowHttp === true;
  if (url.protocol !== 'https:' && !(http && url.protocol === 'http:'))
    throw refuse(http ? 'must begin with https:// or http://' : 'must begin with https://');
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or password');
  if (url.port !== '' && !anyServer && options.allowAnyPort !== true) throw refuse('must not name a port');
  if (options.isWanted?.(url) === false) throw new FetchMediaError('unwanted', `${what} is not of a site that may be read`);
  return url;
}

async function resolveHost(url: URL, options: GuardedFetchOptions): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  const addresses = family === 0 ? await lookUpHost(host, options) : [{ address: host, family }];
  if (addresses.length > 0 && addresses.every(({ address }) => isAllowed(address, url, options))) return addresses;
  throw forbidden();
}

function isAllowed(address: string, url: URL, { isAllowed: allowed, isTrusted }: GuardedFetchOptions): boolean {
  return allowed(address) || isTrusted?.(url) === true;
}

async function lookUpHost(host: string, { lookUp, timeoutMs, signal }: GuardedFetchOptions): Promise<readonly HostAddress[]> {
  try {
    return await waitFor(lookUp(host), timeoutMs, signal);
  } catch (cause) {
    // The same message as for a private address, so that it does not reveal which internal names exist.
    throw forbidden(cause);
  }
}

function forbidden(cause?: unknown): FetchMediaError {
  return new FetchMediaError('forbidden-host', "the URL's host has no public internet address", { cause });
}

/** Connects to the checked addresses, even if the name resolves to others by now. */
function createPinnedConnector(
  undici: Pick<Awaited<ReturnType<typeof loadUndici>>, 'buildConnector'>,
  pinned: readonly HostAddress[],
  url: URL,
  options: GuardedFetchOptions,
): buildConnector.connector {
  const lookup: LookupFunction = (_hostname, { all }, callback) => {
    const [first] = pinned;
    if (all === true || first === undefined) callback(null, [...pinned]);
    else callback(null, first.address, first.family);
  };
  const connect = undici.buildConnector({ lookup, timeout: options.timeoutMs, allowH2: false, maxCachedSessions: 0 });
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      // The address of the socket itself is checked too, in case the connector has understood the host differently.
      if (socket.remoteAddress !== undefined && isAllowed(socket.remoteAddress, url, options)) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(forbidden(), null);
    });
}
