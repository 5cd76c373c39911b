import type { FastifyRequest } from 'fastify';

import { JsonProblemError } from '../../platform/json/json-problem-error.ts';
import { parseJsonInSlices } from '../../platform/json/parse-in-slices.ts';
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

/** A price book has more values than a call: 8 MiB of them, each with its key. */
const bodyLimits = { tokensMax: 2_000_000 } as const;

/**
 * Fastify's body parser for JSON. A member that is there twice is refused, because programs before Weir may read the
 * other one (RFC 8259, section 4).
 * @throws AdminProblem `malformed_request`
 */
export async function parseJsonBody(_request: FastifyRequest, bytes: Buffer): Promise<JsonBody> {
  try {
    return new JsonBody(await parseJsonInSlices(bytes, bodyLimits), bytes);
  } catch (cause) {
    if (!(cause instanceof JsonProblemError)) throw cause;
    const { message, key } = cause;
    if (key === undefined) throw new AdminProblem('malformed_request', `The body cannot be read: ${message}.`, { cause });
    const detail = `The body has the member ${JSON.stringify(key)} twice in one object: ${message}. Send it once.`;
    throw new AdminProblem('malformed_request', detail, { errors: [{ code: 'duplicate_member', detail }], cause });
  }
}
