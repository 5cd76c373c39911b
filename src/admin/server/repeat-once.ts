import { createHash } from 'node:crypto';

import type { Idempotency } from '../../billing/idempotency/idempotency.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { AdminProblem } from '../problem.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { EncodedAnswer } from './answer.ts';

/** A request that its caller may repeat. */
export type RepeatableRequest = {
  /** The caller, as the audit log names it. */
  readonly actor: string;
  readonly key: string;
  /** Everything that distinguishes it from other requests. */
  readonly identity: readonly (string | Uint8Array)[];
  readonly requestId: string;
  readonly signal: AbortSignal;
};

const keyPattern = /^[\x21-\x7e]{1,255}$/;

/**
 * Runs a request once for each key of a caller. A repeated request gets the answer of the first one for 24 hours.
 * Requests that were refused had no effect, so their key may be used again.
 * @throws AdminProblem, or what `run` throws
 */
export async function repeatOnce(
  idempotency: Pick<Idempotency, 'begin'>,
  request: RepeatableRequest,
  run: () => Promise<EncodedAnswer>,
): Promise<EncodedAnswer> {
  const { actor, key, identity, requestId, signal } = request;
  if (!keyPattern.test(key))
    throw new AdminProblem('invalid_request', 'The header Idempotency-Key must have 1 to 255 printable ASCII characters without spaces.');
  const digest = identity.reduce((hash, part) => hash.update(`${part.length}:`).update(part), createHash('sha256')).digest();
  const begun = await idempotency.begin({ keyId: `admin ${actor}`, name: key, digest, requestId, signal }).catch(rethrow);
  if ('kept' in begun) return await readKept(begun.kept);
  const { claim } = begun;
  try {
    const answer = await run();
    claim.add(Buffer.from(answer.body));
    await claim.keep({ status: answer.status, headers: answer.headers });
    return answer;
  } catch (error) {
    // A failure of the store does not say whether the change was made.
    await (error instanceof AdminProblem && error.status < 500 ? claim.release() : claim.spend());
    throw error;
  }
}

async function readKept(
  kept: Extract<Awaited<ReturnType<Idempotency['begin']>>, { readonly kept: unknown }>['kept'],
): Promise<EncodedAnswer> {
  const pieces: Buffer[] = [];
  for await (const piece of kept.body()) pieces.push(piece);
  return { status: kept.status, headers: { ...kept.headers, 'idempotent-replayed': 'true' }, body: Buffer.concat(pieces).toString('utf8') };
}

const codes: Readonly<Record<string, ProblemCode>> = {
  idempotency_conflict: 'idempotency_conflict',
  idempotency_in_progress: 'idempotency_in_progress',
  idempotency_spent: 'idempotency_spent',
  idempotency_unavailable: 'unavailable',
};

function rethrow(error: unknown): never {
  if (!(error instanceof GatewayError)) throw error;
  throw new AdminProblem(codes[error.code] ?? 'internal_error', error.message, { cause: error });
}
