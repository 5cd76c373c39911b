import { Readable } from 'node:stream';

import type { FastifyReply } from 'fastify';

import type { Answer, Operation, StreamAnswer } from '../operation.ts';
import { apiPath } from './api-path.ts';

export const jsonType = 'application/json; charset=utf-8';

/** An answer as it is sent and, for a request that may be repeated, kept. */
export type EncodedAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** An answer as status, headers and text. */
export function encodeAnswer(operation: Operation<never>, { body, version, location }: Answer<unknown>): EncodedAnswer {
  const status = operation.status ?? 200;
  return {
    status,
    headers: {
      ...(status === 204 ? {} : { 'content-type': jsonType }),
      ...(version !== undefined && { etag: `"${version}"` }),
      ...(location !== undefined && { location: `${apiPath}${location}` }),
    },
    body: status === 204 ? '' : JSON.stringify(body),
  };
}

export function sendEncoded(reply: FastifyReply, { status, headers, body }: EncodedAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}

/** Sends an answer that is made while it is sent, no faster than the client reads. */
export function sendStream(reply: FastifyReply, answer: StreamAnswer): FastifyReply {
  const { stream, contentType, status = 200, fileName, headers = {}, ownsPieces } = answer;
  if (fileName !== undefined) void reply.header('content-disposition', `attachment; filename="${fileName}"`);
  if (contentType !== undefined) void reply.type(contentType);
  const readable: Readable = Readable.from(
    ownsPieces === true ? freeSent(stream, () => readable.readableLength === 0 && reply.raw.writableLength === 0) : stream,
    { objectMode: false },
  );
  return reply.code(status).headers(headers).send(readable);
}

/**
 * Frees the pieces that the system has taken. A thread that only passes pieces on makes little garbage of its own, so
 * 32 MB of them would wait for a collection.
 * @param isSent whether no piece that was given away waits any more
 */
async function* freeSent(pieces: StreamAnswer['stream'], isSent: () => boolean): AsyncGenerator<string | Uint8Array> {
  let given: ArrayBuffer[] = [];
  for await (const piece of pieces) {
    if (isSent()) {
      for (const buffer of given) buffer.transfer(0);
      given = [];
    }
    if (typeof piece !== 'string' && piece.buffer instanceof ArrayBuffer) given.push(piece.buffer);
    yield piece;
  }
}
