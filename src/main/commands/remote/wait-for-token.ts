import { setTimeout as delay } from 'node:timers/promises';

import { fetchToken } from '../../../admin/resources/device-sign-ins/device-sign-in-operations.ts';
import { AdminProblem } from '../../../admin/problem.ts';
import type { ProblemCode } from '../../../admin/problem-codes.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import type { Clock } from '../../../platform/clock.ts';
import { StartError } from '../../environment.ts';

/** What the console answers after the approval. */
export type FetchedToken = NonNullable<typeof fetchToken.types>['reply'];

export type TokenWait = {
  readonly service: Pick<AdminService, 'call'>;
  readonly deviceCode: string;
  readonly intervalMs: number;
  /** From now until the code expires. */
  readonly lifetimeMs: number;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Says why nothing happens, once for each outage. */
  readonly report: (reason: string) => void;
  /** Replaces the wait between two polls, in tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** How much slower to ask after `slow_down` (RFC 8628, section 3.5), and at most between two polls of an outage. */
const slowDownMs = 5000;
const outageMsMax = 30_000;

/**
 * Asks for the token until a person has decided (RFC 8628, section 3.5). A console that is away meanwhile is asked less
 * often until it is back.
 * @throws StartError if the sign-in was refused or has expired, or the reason of the signal
 */
export async function waitForToken(wait: TokenWait): Promise<FetchedToken> {
  const { service, deviceCode, signal, clock, report, sleep = sleepFor } = wait;
  const endMs = clock.monotonicMs() + wait.lifetimeMs;
  let { intervalMs } = wait;
  let outageMs = 0;
  while (clock.monotonicMs() < endMs) {
    await sleep(Math.max(intervalMs, outageMs), signal);
    try {
      return (await service.call(fetchToken, { body: { device_code: deviceCode } })).body;
    } catch (error) {
      signal.throwIfAborted();
      const next = meaningOf(error);
      if (next === 'slower') intervalMs += slowDownMs;
      if (next === 'away' && outageMs === 0 && error instanceof Error) report(error.message);
      outageMs = next === 'away' ? Math.min(outageMsMax, 2 * Math.max(intervalMs, outageMs)) : 0;
    }
  }
  throw expired();
}

/** The codes of refusals after which it is right to wait on; any other ends the wait. */
const nextOf: Readonly<Partial<Record<ProblemCode, 'pending' | 'slower' | 'away'>>> = {
  authorization_pending: 'pending',
  slow_down: 'slower',
  unavailable: 'away',
  too_many_requests: 'away',
  internal_error: 'away',
};

/** What to do after a refused poll. @throws the error, or StartError, if there is nothing to wait for */
function meaningOf(error: unknown): 'pending' | 'slower' | 'away' {
  if (!(error instanceof AdminProblem)) throw error;
  const next = nextOf[error.code];
  if (next !== undefined) return next;
  if (error.code === 'access_denied') throw new StartError('the sign-in was refused');
  throw error.code === 'expired_token' ? expired() : error;
}

const expired = (): StartError => new StartError('nobody approved in time, and the code has expired: run weir login again');

/** Rejects with the reason of the signal. */
async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
