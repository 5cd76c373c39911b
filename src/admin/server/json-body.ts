import type { FastifyRequest } from 'fastify';

import { parseJson } from '../../platform/json/parse-json.ts';
import { AdminProblem } from '../problem.ts';

/** A parsed body and its bytes, by which a repeated request is recognised. */
export class JsonBody {
  readonly value: unknown;
  readonly bytes: Buffer;

  constructor(value: unknown, bytes: Buffer) {
    this.value = value;
    this.bytes = bytes;
  }
}

/** Fastify's body parser for JSON. @throws AdminProblem `malformed_request` */
export async function parseJsonBody(_request: FastifyRequest, bytes: Buffer): Promise<JsonBody> {
  try {
    return new JsonBody(parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), bytes);
  } catch (cause) {
    throw new AdminProblem('malformed_request', 'The body is not valid JSON in UTF-8.', { cause });
  }
}
