import { S3ServiceError } from 's3mini';

import { waitFor } from '../../platform/wait-for.ts';
import { type ByteRange, MediaStorageError } from '../../tasks/media/media-storage.ts';
import { type S3Connector, toStorageError } from './connect-s3.ts';

/**
 * Opens an object, or a part of one. Undefined if there is none. Rejects with MediaStorageError, or with the reason of
 * the signal.
 */
export async function openS3Object(
  connector: S3Connector,
  name: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  signal.throwIfAborted();
  const connection = new AbortController();
  const ended = AbortSignal.any([signal, connection.signal]);
  try {
    const answer = await waitFor(request(connector, name, range, ended), connector.requestMs, signal);
    if (answer === undefined) return undefined;
    // A service that ignores the range would send the first bytes instead of those in the middle.
    if (range !== undefined && answer !== nothing && !isPart(answer, range))
      throw new MediaStorageError('unavailable', 'the object store does not serve the requested part of the file');
    return readBody(answer, { connection, idleMs: connector.idleMs, signal });
  } catch (error) {
    connection.abort();
    signal.throwIfAborted();
    throw toStorageError(error);
  }
}

function isPart({ status, headers }: Response, { start, end }: ByteRange): boolean {
  return status === 206 && Number(headers.get('content-length') ?? 0) <= end - start + 1;
}

/** The answer for a part that is beyond the end of the file. */
const nothing = new Response(null);

async function request(
  connector: S3Connector,
  name: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    const s3 = connector.connect(signal);
    return range === undefined ? await s3.getObjectRaw(name) : await s3.getObjectRaw(name, false, range.start, range.end + 1);
  } catch (error) {
    if (!(error instanceof S3ServiceError)) throw error;
    if (error.status === 416) return nothing;
    // A missing bucket does not mean that the file does not exist.
    if (error.status === 404 && error.serviceCode !== 'NoSuchBucket') return undefined;
    throw error;
  }
}

type BodyOptions = { readonly connection: AbortController; readonly idleMs: number; readonly signal: AbortSignal };

function readBody(answer: Response, { connection, idleMs, signal }: BodyOptions): AsyncIterable<Uint8Array> {
  const body: ReadableStream<Uint8Array> | null = answer.body;
  const reader = body?.getReader();
  const leave = (): IteratorResult<Uint8Array, undefined> => {
    connection.abort();
    return { done: true, value: undefined };
  };
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    try {
      signal.throwIfAborted();
      if (reader === undefined || connection.signal.aborted) return leave();
      const { done, value } = await waitFor(reader.read(), idleMs, signal);
      return done ? leave() : { done, value };
    } catch (error) {
      leave();
      signal.throwIfAborted();
      throw toStorageError(error);
    }
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: async () => leave() }) };
}
