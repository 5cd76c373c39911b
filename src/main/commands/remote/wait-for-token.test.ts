import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { AdminProblem } from '../../../admin/problem.ts';
import type { ProblemCode } from '../../../admin/problem-codes.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import { type FetchedToken, waitForToken } from './wait-for-token.ts';

const fetched = { access_token: 'at-weir-x', token_type: 'Bearer', expires_in: 5, token: {} } as FetchedToken;

/** Waits with a console that answers in the given order, on a clock that only sleeping moves. */
async function waitWith(
  answers: readonly (ProblemCode | 'token')[],
  options: { readonly lifetimeMs?: number; readonly abortAt?: number } = {},
) {
  const slept: number[] = [];
  const reported: string[] = [];
  const leaving = new AbortController();
  let nowMs = 0;
  let asked = 0;
  const call = async (): Promise<{ body: FetchedToken }> => {
    const answer = answers[asked] ?? 'authorization_pending';
    asked += 1;
    if (answer === 'token') return { body: fetched };
    throw new AdminProblem(answer, `because of ${answer}`);
  };
  const outcome = await waitForToken({
    service: { call } as unknown as Pick<AdminService, 'call'>,
    deviceCode: 'x'.repeat(43),
    intervalMs: 2000,
    lifetimeMs: options.lifetimeMs ?? 600_000,
    signal: leaving.signal,
    clock: { monotonicMs: () => nowMs },
    report: (reason) => void reported.push(reason),
    sleep: async (ms, signal) => {
      if (slept.length === options.abortAt) leaving.abort(new Error('interrupted'));
      signal.throwIfAborted();
      slept.push(ms);
      nowMs += ms;
    },
  }).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  return { outcome: typeof outcome === 'string' ? outcome : 'token', slept, reported, asked };
}

describe('waiting for the token of a login', () => {
  test('it asks after each interval, and five seconds later for each slow_down', async () => {
    const { outcome, slept } = await waitWith(['authorization_pending', 'slow_down', 'authorization_pending', 'slow_down', 'token']);
    assert.equal(outcome, 'token');
    assert.deepEqual(slept, [2000, 2000, 7000, 7000, 12_000]);
  });

  test('a console that is away is asked less often, reported once for each outage, and as before when it is back', async () => {
    const away = ['unavailable', 'unavailable', 'too_many_requests', 'unavailable', 'unavailable'] as const;
    const { outcome, slept, reported } = await waitWith([...away, 'authorization_pending', 'unavailable', 'token']);
    assert.equal(outcome, 'token');
    assert.deepEqual(slept, [2000, 4000, 8000, 16_000, 30_000, 30_000, 2000, 4000]);
    assert.deepEqual(reported, ['because of unavailable', 'because of unavailable']);
  });

  test('a refusal, an expired code and any other refusal end the wait with their reason', async () => {
    assert.equal((await waitWith(['access_denied'])).outcome, 'the sign-in was refused');
    assert.match((await waitWith(['expired_token'])).outcome, /code has expired: run weir login again/);
    assert.equal((await waitWith(['wrong_host'])).outcome, 'because of wrong_host');
  });

  test('nobody is waited for longer than the code is valid, also while the console is away', async () => {
    const pending = await waitWith([], { lifetimeMs: 9000 });
    assert.match(pending.outcome, /nobody approved in time/);
    assert.equal(pending.asked, 5);
    const away = await waitWith(
      Array.from({ length: 9 }, () => 'unavailable' as const),
      { lifetimeMs: 60_000 },
    );
    assert.match(away.outcome, /nobody approved in time/);
  });

  test('an interrupt ends it at once with its reason', async () => {
    const { outcome, asked } = await waitWith([], { abortAt: 2 });
    assert.deepEqual([outcome, asked], ['interrupted', 2]);
  });
});
