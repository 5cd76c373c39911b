import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

import { BodyCollector } from './body-collector.ts';
import { DirectRequest } from './direct-request.ts';

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

/**
 * Reads a whole request body into one buffer.
 * @param bytesMax refuses larger bodies with `too-large`: before reading, if the length is declared
 * @param mayHold called while a large body arrives; if it returns false, the body is refused with `no-room`
 */
export function readBody(request: IncomingMessage, bytesMax: number, mayHold: (bytes: number) => boolean = () => true): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? '0');
  if (declared > bytesMax) return Promise.reject(new BodyError('too-large', `the body is larger than ${bytesMax} bytes`));
  // The client disconnected while its key was looked up, and its request emits no further event.
  if (request.destroyed) return Promise.reject(new BodyError('incomplete', 'the client closed the connection'));
  return new Promise((resolve, reject) => {
    const collector = new BodyCollector(declared);
    let askAgainAt = heldStepBytes;
    let isRefused = false;
    const refuse = (error: BodyError): void => {
      isRefused = true;
      collector.drop();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      // The rest of a refused body is discarded, so that the client can read the answer.
      if (isRefused) return;
      const length = collector.length + chunk.length;
      if (length > bytesMax) return refuse(new BodyError('too-large', `the body is larger than ${bytesMax} bytes`));
      if (length >= askAgainAt) {
        askAgainAt = length + heldStepBytes;
        if (!mayHold(length)) return refuse(new BodyError('no-room', 'there is no room for more of the body'));
      }
      collector.add(chunk);
    };
    const onEnd = (): void => resolve(collector.finish());
    const receive = (piece: Buffer | null): void => (piece === null ? onEnd() : onData(piece));
    if (request instanceof DirectRequest && request.takeBody(receive)) {
      collector.ownsPieces = true;
    } else {
      request.on('data', onData);
      request.on('end', onEnd);
    }
    // A client that disconnects while its body is joined has sent all of it, so the body is accepted.
    const onCut = (cause?: unknown): void => reject(new BodyError('incomplete', 'the body ended before its declared length', { cause }));
    request.on('aborted', onCut);
    request.on('error', onCut);
  });
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
