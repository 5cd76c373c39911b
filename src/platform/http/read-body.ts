import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

import { BodyCollector } from './body-collector.ts';
import { type BodyReceiver, DirectRequest } from './direct-request.ts';

export type BodyProblem = 'too-large' | 'no-room' | 'incomplete' | 'unsupported-encoding' | 'invalid-encoding';

/** Why a request body could not be read. */
export class BodyError extends Error {
  readonly problem: BodyProblem;
  constructor(problem: BodyProblem, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'BodyError';
    this.problem = problem;
  }
}

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
} as const;

/** Content codings that `decodeBody` decodes, for error messages. */
export const contentCodings = ['gzip', 'deflate', 'br', 'zstd', 'identity'] as const;

/** Bytes of a body between two calls of `mayHold`. */
export const heldStepBytes = 1024 * 1024;

/** Whether there is room for this many bytes of a body. */
type MayHold = (bytes: number) => boolean;

/** The result of a body that is being read. */
type Reading = {
  readonly bytesMax: number;
  readonly mayHold: MayHold;
  readonly resolve: (body: Buffer | Promise<Buffer>) => void;
  readonly reject: (error: BodyError) => void;
};

/**
 * Collects a body, up to its first end. The listeners of a request live as long as the request, which for a stream is
 * the whole reply. So the reader forgets at the end what it was given: by it the request would keep its parsed body.
 */
class BodyReader implements BodyReceiver {
  readonly collector: BodyCollector;
  #reading: Reading | undefined;
  #askAgainAt = heldStepBytes;

  constructor(declared: number, reading: Reading) {
    this.collector = new BodyCollector(declared);
    this.#reading = reading;
  }

  receive(piece: Buffer): void {
    const reading = this.#reading;
    // The rest of a refused body is discarded, so that the client can read the answer.
    if (reading === undefined) return;
    const length = this.collector.length + piece.length;
    if (length > reading.bytesMax) return this.#refuse(tooLarge(reading.bytesMax));
    if (length >= this.#askAgainAt) {
      this.#askAgainAt = length + heldStepBytes;
      if (!reading.mayHold(length)) return this.#refuse(new BodyError('no-room', 'there is no room for more of the body'));
    }
    this.collector.add(piece);
  }

  end(): void {
    const reading = this.#reading;
    this.#reading = undefined;
    reading?.resolve(this.collector.finish());
  }

  /** A client that disconnects while its body is joined has sent all of it, so the body is accepted. */
  cut(cause: unknown): void {
    this.#refuse(new BodyError('incomplete', 'the body ended before its declared length', { cause }));
  }

  #refuse(error: BodyError): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    this.collector.drop();
    reading.reject(error);
  }
}

const tooLarge = (bytesMax: number): BodyError => new BodyError('too-large', `the body is larger than ${bytesMax} bytes`);

/**
 * Reads a whole request body into one buffer.
 * @param bytesMax refuses larger bodies with `too-large`: before reading, if the length is declared
 * @param mayHold called while a large body arrives; if it returns false, the body is refused with `no-room`
 */
export function readBody(request: IncomingMessage, bytesMax: number, mayHold: MayHold = () => true): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? '0');
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax));
  // The client disconnected while its key was looked up, and its request emits no further event.
  if (request.destroyed) return Promise.reject(new BodyError('incomplete', 'the client closed the connection'));
  return new Promise((resolve, reject) => listen(request, new BodyReader(declared, { bytesMax, mayHold, resolve, reject })));
}

/** In a function of its own: listeners keep everything that any function in their scope uses. */
function listen(request: IncomingMessage, reader: BodyReader): void {
  if (request instanceof DirectRequest && request.takeBody(reader)) {
    reader.collector.ownsPieces = true;
  } else {
    request.on('data', (piece: Buffer) => reader.receive(piece));
    request.on('end', () => reader.end());
  }
  const onCut = (cause?: unknown): void => reader.cut(cause);
  request.on('aborted', onCut);
  request.on('error', onCut);
}

/**
 * Decodes a body by its `Content-Encoding`. The limit also applies to the result, so that a small compressed body
 * cannot become a huge one.
 */
export async function decodeBody(body: Buffer, contentEncoding: string | undefined, bytesMax: number): Promise<Buffer> {
  const coding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (coding === '' || coding === 'identity') return body;
  if (!Object.hasOwn(decoders, coding)) {
    throw new BodyError('unsupported-encoding', `content-encoding "${coding.slice(0, 40)}" is not supported`);
  }
  try {
    return await decoders[coding as keyof typeof decoders](body, { maxOutputLength: bytesMax });
  } catch (cause) {
    if (cause instanceof RangeError) throw new BodyError('too-large', `the decoded body is larger than ${bytesMax} bytes`, { cause });
    throw new BodyError('invalid-encoding', `the body is not valid ${coding} data`, { cause });
  }
}
