import { lookup } from 'node:dns/promises';

import type { Dispatcher } from 'undici';

import { fetchGuarded, unreachable } from './fetch-guarded.ts';
import type { LookUpHost } from './fetch-guarded.ts';
import { FetchMediaError } from './fetch-media-error.ts';
import { confirmMediaType, readMediaType } from './media-type.ts';
import { isPublicAddress } from './public-address.ts';

export { FetchMediaError } from './fetch-media-error.ts';

export type FetchMediaOptions = {
  readonly bytesMax: number;
  /** The limit for all of it: names, connections, redirects and the file. */
  readonly timeoutMs: number;
  /** Aborts the fetch, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Accepts addresses of private networks, http and any port. For networks whose clients may reach all that the gateway
   * can reach.
   */
  readonly allowPrivateAddresses: boolean;
  /** How host names are looked up. Default: the system's resolver. */
  readonly lookup?: LookUpHost;
};

export type FetchedMedia = {
  /** Without parameters, in lower case. For images and PDF it comes from the first bytes, otherwise from the server. */
  readonly mediaType: string;
  readonly bytes: Buffer;
};

const headers = {
  accept: 'image/*, application/pdf, audio/*, video/*, text/plain',
  // A small compressed answer could become a huge one.
  'accept-encoding': 'identity',
  'user-agent': 'weir',
};

/**
 * Fetches an image, PDF, audio, video or plain text from a URL that a client sent. Only https to port 443 is used, only
 * hosts whose every address is public, and at most 3 redirects. The request contains nothing that identifies the
 * client, and no credential. Rejects with FetchMediaError.
 */
export async function fetchMedia(url: string, options: FetchMediaOptions): Promise<FetchedMedia> {
  const { bytesMax, timeoutMs, allowPrivateAddresses } = options;
  options.signal.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const guarded = {
    lookUp: options.lookup ?? lookUpBySystem,
    isAllowed: (address: string) => allowPrivateAddresses || isPublicAddress(address),
    allowAnyServer: allowPrivateAddresses,
    headers,
    timeoutMs,
    signal: AbortSignal.any([options.signal, timeout]),
  };
  try {
    return await fetchGuarded(url, guarded, (answer) => readMedia(answer, bytesMax));
  } catch (error) {
    options.signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new FetchMediaError('timeout', `the file behind the URL did not arrive within ${timeoutMs / 1000} seconds`, { cause: error });
  }
}

async function lookUpBySystem(hostname: string): ReturnType<LookUpHost> {
  return lookup(hostname, { all: true });
}

async function readMedia(answer: Dispatcher.ResponseData, bytesMax: number): Promise<FetchedMedia> {
  const said = readMediaType(answer.headers['content-type']);
  if (said === undefined) throw wrongType('is neither an image, audio, video, PDF nor plain text');
  if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') throw wrongType('comes compressed, which was not asked for');
  const bytes = await readAll(answer, bytesMax);
  if (bytes.length === 0) throw wrongType('is empty');
  const mediaType = confirmMediaType(said, bytes);
  if (mediaType === undefined) throw wrongType(said === 'unknown' ? 'is neither an image nor a PDF' : `is called ${said} and is none`);
  return { mediaType, bytes };
}

function wrongType(reason: string): FetchMediaError {
  return new FetchMediaError('wrong-type', `the file behind the URL ${reason}`);
}

async function readAll({ headers: answered, body }: Dispatcher.ResponseData, bytesMax: number): Promise<Buffer> {
  const tooLarge = new FetchMediaError('too-large', `the file behind the URL is larger than ${bytesMax} bytes`);
  if (Number(answered['content-length'] ?? 0) > bytesMax) throw tooLarge;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw unreachable(cause);
  }
  return Buffer.concat(chunks, length);
}
