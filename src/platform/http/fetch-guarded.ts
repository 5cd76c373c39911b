import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import { buildConnector, Client, type Dispatcher } from 'undici';

import { waitFor } from '../wait-for.ts';
import { FetchMediaError } from './fetch-media-error.ts';

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
  /** Servers that may stand anywhere and listen at any port, over http too: those that the operator has named. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Asked for every address on the way, the first included. One that it does not take is not fetched. */
  readonly isWanted?: (url: URL) => boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
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
  let url = parseUrl(address, undefined, options);
  for (let redirects = 0; ; redirects += 1) {
    const pinned = await resolveHost(url, options);
    const client = new Client(url.origin, {
      connect: createPinnedConnector(pinned, url, options),
      allowH2: false,
      maxHeaderSize: headerBytesMax,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    try {
      const answer = await client
        .request({ method: 'GET', path: url.pathname + url.search, headers: { ...options.headers }, signal: options.signal })
        .catch((cause: unknown) => {
          throw unreachable(cause);
        });
      if (answer.statusCode === 200) return await read(answer, url);
      const location = answer.headers.location;
      if (!redirectStatuses.has(answer.statusCode) || typeof location !== 'string') {
        throw new FetchMediaError('refused', `the URL's server answers with status ${answer.statusCode}`);
      }
      if (redirects === redirectsMax) throw new FetchMediaError('refused', `the URL redirects more than ${redirectsMax} times`);
      url = parseUrl(location, url, options);
    } finally {
      // Whatever is left of the answer is of no use.
      await client.destroy();
    }
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
  if (url.port !== '' && !anyServer) throw refuse('must not name a port');
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
function createPinnedConnector(pinned: readonly HostAddress[], url: URL, options: GuardedFetchOptions): buildConnector.connector {
  const lookup: LookupFunction = (_hostname, { all }, callback) => {
    const [first] = pinned;
    if (all === true || first === undefined) callback(null, [...pinned]);
    else callback(null, first.address, first.family);
  };
  const connect = buildConnector({ lookup, timeout: options.timeoutMs, allowH2: false, maxCachedSessions: 0 });
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
