import { lookup } from 'node:dns/promises';

import { waitFor } from '../wait-for.ts';
import { getGuarded, unreachable, type GuardedAnswer, type LookUpHost } from './fetch-guarded.ts';
import { FetchMediaError } from './fetch-media-error.ts';
import { isPublicAddress } from './public-address.ts';

export type OpenGuardedOptions = {
  /** Sent to the origin of the address alone: from the first redirect to another one on they are left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Servers that may stand anywhere, listen at any port, and be spoken to over http: those that the operator has named. */
  readonly isTrusted?: (url: URL) => boolean;
  /** Lets all others stand in private networks too. Default: false. */
  readonly allowPrivateAddresses?: boolean;
  /** How host names are looked up. Default: as the system does. */
  readonly lookUp?: LookUpHost;
  /** Until the head of the answer, redirects included. */
  readonly firstByteMs: number;
  /** Between two pieces, while one is waited for. */
  readonly idleMs: number;
  /** For everything, also the time for which whoever takes the pieces keeps them waiting. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
};

export type OpenedFile = {
  /** Without parameters, in lower case, as the server says; undefined where it says none. */
  readonly mediaType: string | undefined;
  /** How long the file is, where the server says it. Then exactly so many come, or the iteration fails. */
  readonly bytes: number | undefined;
  /** The file, as fast as it is taken. Fails with FetchMediaError or the signal's reason. The connection is closed when it ends or is left, and when a limit is passed. */
  readonly content: AsyncIterable<Uint8Array>;
};

const ownHeaders = {
  accept: '*/*',
  // What is compressed has another length than is said, and a small answer could become a huge one.
  'accept-encoding': 'identity',
  'user-agent': 'weir',
};

/**
 * Opens a file at an address that a stranger chose, under the guards of `fetchGuarded`: https to port 443 of hosts whose every address is of the public internet and which are connected to at the address that was
 * checked, through at most 3 redirects, each of which is checked again. Rejects with FetchMediaError, or with the signal's reason.
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
  /** Aborts with the caller's, and when a time is over. */
  readonly signal: AbortSignal;
  /** Begins to count a time, and returns what ends that. */
  readonly after: (timeMs: number) => () => void;
  /** What an error is due to. */
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
      // Whoever reads hears of what matters; that the connection ended is what was wanted.
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
