import { lookup } from 'node:dns/promises';

import { waitFor } from '../wait-for.ts';
import { getGuarded, unreachable, type GuardedAnswer, type LookUpHost } from './fetch-guarded.ts';
import { FetchMediaError } from './fetch-media-error.ts';
import { isPublicAddress } from './public-address.ts';

export type OpenGuardedOptions = {
  /** Headers for the origin of the URL only. They are left out from the first redirect to another origin on. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Servers that the operator has named: they may be in any network, use any port, and speak http. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Also accepts all other servers in private networks. Default: false. */
  readonly allowPrivateAddresses?: boolean;
  /** How host names are looked up. Default: the system's resolver. */
  readonly lookUp?: LookUpHost;
  /** The limit until the head of the answer, with redirects. */
  readonly firstByteMs: number;
  /** The limit for the wait for one piece. */
  readonly idleMs: number;
  /** The limit for the whole file, including the time in which the reader does not read. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
};

export type OpenedFile = {
  /** The declared type, without parameters and in lower case. */
  readonly mediaType: string | undefined;
  /** The declared length. The iteration fails if another number of bytes arrives. */
  readonly bytes: number | undefined;
  /**
   * The content, at the speed of its reader. Fails with FetchMediaError or the signal's reason. The connection is
   * closed when the content ends, when its reader stops, and when a limit is exceeded.
   */
  readonly content: AsyncIterable<Uint8Array>;
};

const ownHeaders = {
  accept: '*/*',
  // Compressed content has another length than declared, and a small answer could become huge.
  'accept-encoding': 'identity',
  'user-agent': 'weir',
};

/**
 * Opens a file at an untrusted URL, under the checks of `fetchGuarded`: only https to port 443, only hosts whose every
 * address is public, connected at the checked address, and at most 3 redirects with the same checks. Rejects with
 * FetchMediaError, or with the signal's reason.
 */
export async function openGuarded(address: string, options: OpenGuardedOptions): Promise<OpenedFile> {
  const { firstByteMs, totalMs, signal, allowPrivateAddresses = false } = options;
  signal.throwIfAborted();
  const limit = createLimits(signal);
  const stopTotal = limit.after(totalMs);
  const stopFirstByte = limit.after(firstByteMs);
  try {
    const opened = await getGuarded(address, {
      lookUp: options.lookUp ?? ((hostname) => lookup(hostname, { all: true })),
      isAllowed: (candidate) => allowPrivateAddresses || isPublicAddress(candidate),
      allowAnyServer: allowPrivateAddresses,
      ...(options.isTrusted === undefined ? {} : { isTrusted: options.isTrusted }),
      headers: { ...options.headers, ...ownHeaders },
      headersElsewhere: ownHeaders,
      timeoutMs: firstByteMs,
      signal: limit.signal,
    });
    stopFirstByte();
    return readHead(opened, { idleMs: options.idleMs, limit, stop: stopTotal });
  } catch (error) {
    stopFirstByte();
    stopTotal();
    throw limit.reasonOf(error);
  }
}

type Limits = {
  /** Aborts with the caller's signal, and when a limit is exceeded. */
  readonly signal: AbortSignal;
  /** Starts a timer, and returns a function that stops it. */
  readonly after: (timeMs: number) => () => void;
  /** The cause of an error. */
  readonly reasonOf: (error: unknown) => unknown;
};

function createLimits(caller: AbortSignal): Limits {
  const over = new AbortController();
  const signal = AbortSignal.any([caller, over.signal]);
  return {
    signal,
    after: (timeMs) => {
      const timer = setTimeout(() => over.abort(timedOut()), timeMs);
      timer.unref();
      return () => clearTimeout(timer);
    },
    reasonOf: (error) => {
      const reason: unknown = signal.reason;
      if (signal.aborted) return reason;
      return error instanceof DOMException && error.name === 'TimeoutError' ? timedOut(error) : unreachable(error);
    },
  };
}

function timedOut(cause?: unknown): FetchMediaError {
  return new FetchMediaError('timeout', 'the file behind the URL did not arrive in time', { cause });
}

type Reading = { readonly idleMs: number; readonly limit: Limits; readonly stop: () => void };

function readHead(opened: GuardedAnswer, reading: Reading): OpenedFile {
  const { headers } = opened.answer;
  const content = readContent(opened, reading);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    content.close();
    throw new FetchMediaError('wrong-type', 'the file behind the URL comes compressed, which was not asked for');
  }
  const said = headers['content-length'];
  const type = headers['content-type'];
  return {
    mediaType: typeof type === 'string' ? type.replace(/;.*$/s, '').trim().toLowerCase() : undefined,
    bytes: typeof said === 'string' && /^\d{1,15}$/.test(said) ? Number(said) : undefined,
    content: { [Symbol.asyncIterator]: () => content.iterator },
  };
}

function readContent(
  { answer, close }: GuardedAnswer,
  { idleMs, limit, stop }: Reading,
): { readonly iterator: AsyncIterator<Uint8Array, undefined>; readonly close: () => void } {
  const pieces: AsyncIterator<Uint8Array, undefined> = answer.body[Symbol.asyncIterator]();
  let closed = false;
  const end = (): IteratorResult<Uint8Array, undefined> => {
    if (!closed) {
      closed = true;
      stop();
      limit.signal.removeEventListener('abort', end);
      // The reader receives the error that matters. The end of the connection was intended.
      answer.body.on('error', () => undefined);
      close().catch(() => undefined);
    }
    return { done: true, value: undefined };
  };
  limit.signal.addEventListener('abort', end, { once: true });
  if (limit.signal.aborted) end();
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    try {
      limit.signal.throwIfAborted();
      if (closed) return end();
      const step = await waitFor(pieces.next(), idleMs, limit.signal);
      return step.done === true ? end() : step;
    } catch (error) {
      end();
      throw limit.reasonOf(error);
    }
  };
  return { iterator: { next, return: async () => end() }, close: end };
}
