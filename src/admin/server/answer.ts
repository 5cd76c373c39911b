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
export function sendStream(reply: FastifyReply, { stream, contentType, status = 200, fileName, headers = {} }: StreamAnswer): FastifyReply {
  if (fileName !== undefined) void reply.header('content-disposition', `attachment; filename="${fileName}"`);
  if (contentType !== undefined) void reply.type(contentType);
  return reply
    .code(status)
    .headers(headers)
    .send(Readable.from(stream, { objectMode: false }));
}
