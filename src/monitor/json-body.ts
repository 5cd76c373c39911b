import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { parseJson } from '../platform/json/parse-json.ts';
import { MonitorError } from './monitor-error.ts';

/** Throws MonitorError 415 unless the headers declare a plain JSON body. */
export function assertJsonType(headers: IncomingHttpHeaders): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') throw new MonitorError(415, 'Content-Type must be application/json');
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-8"?$/.test(charset)) {
    throw new MonitorError(415, 'the body must be UTF-8: leave the charset out of Content-Type');
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new MonitorError(415, 'the body must not be compressed: leave Content-Encoding out');
}

/** Fastify's body parser for JSON. Throws MonitorError 400. */
export function parseJsonBody(_request: FastifyRequest, body: Buffer): Promise<unknown> {
  return new Promise((resolve) => resolve(readJson(body)));
}

function readJson(body: Buffer): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new MonitorError(400, 'the body is not valid JSON', { cause });
  }
}
