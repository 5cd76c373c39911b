import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import type { buildConnector, Dispatcher } from 'undici';

import { waitFor } from '../wait-for.ts';
import { FetchMediaError } from './fetch-media-error.ts';
import { loadUndici } from './load-undici.ts';

/** An address of a host. */
type HostAddress = { readonly address: string; readonly family: number };

/** Finds the addresses of a host name. */
export type LookUpHost = (hostname: string) => Promise<readonly HostAddress[]>;

export type GuardedFetchOptions = {
  readonly lookUp: LookUpHost;
  /** Asked for every address of every host on the way. One that is not allowed refuses the whole host. */
  readonly isAllowed: (address: string) => boolean;
  /** Also http, and other ports than 443. */
  readonly allowAnyServer: boolean;
  /** Also http, at its own port. */
  readonly allowHttp?: boolean;
  /** Also other ports than that of the scheme. */
  readonly allowAnyPort?: boolean;
  /** Servers that may stand anywhere and listen at any port, over http too: those that the operator has named. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Asked for every address on the way, the first included. One that it does not take is not fetched. */
  readonly isWanted?: (url: URL) => boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent in their place once a redirect has led to another origin: there nobody may see a credential. Default: the same. */
  readonly headersElsewhere?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** An answer whose body is still to be read. */
export type GuardedAnswer = {
  readonly answer: Dispatcher.ResponseData;
  readonly url: URL;
  /** Ends the connection, whatever is left of the answer. */
  readonly close: () => Promise<void>;
};

const redirectsMax = 3;
const urlCharactersMax = 8192;
const headerBytesMax = 16_384;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches an address that a stranger chose, and hands the 200 answer and where it came from to `read`; what `read` returns is returned. Every host is looked up once, all its
 * addresses are checked, and the connection goes to a checked address: a name cannot lead elsewhere a moment later. The same for each redirect.
 * Rejects with FetchMediaError, or with what `read` rejects with.
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
    // Whatever is left of the answer is of no use.
    await close();
  }
}

/** The same, where the 200 answer is not read at once. It has to be closed. Rejects with FetchMediaError. */
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

/** Posts to an address that a stranger chose, under the same guards, and resolves with the status of the answer, of which nothing else is read. No redirect is followed. Rejects with FetchMediaError. */
export async function postGuarded(address: string, body: string, options: GuardedFetchOptions): Promise<number> {
  const { answer, close } = await requestGuarded(parseUrl(address, undefined, options), options, { method: 'POST', body });
  // Its body ends with the connection, which is no failure of anything.
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

/** The error of a connection that failed. Why it did is for the log: told to a stranger it would map the network. */
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
    // In the same words as for a private address: which names exist inside is nobody's business.
    throw forbidden(cause);
  }
}

function forbidden(cause?: unknown): FetchMediaError {
  return new FetchMediaError('forbidden-host', "the URL's host has no public internet address", { cause });
}

/** Connects to the checked addresses, whatever the name leads to by now. */
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
      // Asked of the socket itself, in case a host was understood here in another way than where the connection was made.
      if (socket.remoteAddress !== undefined && isAllowed(socket.remoteAddress, url, options)) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(forbidden(), null);
    });
}
