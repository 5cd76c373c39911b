import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { type ErrorCode, errorCodes, GatewayError } from '../../../inference/gateway-error.ts';
import { attemptsMax, decideRetry, type FailedAttempt, isWithinReach, type RetryReach } from './retry-policy.ts';

const half = () => 0.5;

function failure(
  code: ErrorCode,
  changes: Partial<FailedAttempt> & { readonly says?: number; readonly afterSeconds?: number } = {},
): FailedAttempt {
  const { says, afterSeconds, ...rest } = changes;
  const error = new GatewayError(code, 'words', {
    ...(says === undefined ? {} : { status: says }),
    ...(afterSeconds === undefined ? {} : { retryAfterSeconds: afterSeconds }),
  });
  return { error, attempt: 1, isDelivered: false, hasClientLeft: false, ...rest };
}

/** An answer whose status is passed on unchanged. */
const answer = (status: number, changes: Partial<FailedAttempt> = {}): FailedAttempt =>
  failure('upstream_error', { says: status, upstreamStatus: status, ...changes });

/** The verdict, the reach, the wait and the cost as text. */
function decide(failed: FailedAttempt): string {
  const decision = decideRetry(failed, half);
  const { verdict } = decision;
  const said =
    verdict.type === 'rejected' ? verdict.reach : verdict.type === 'rate-limited' ? `limited ${verdict.retryAfterMs ?? '?'}` : verdict.type;
  return decision.retry ? `${said}: ${decision.reach} ${decision.waitMs} ms, cost ${decision.cost}` : `${said}: none`;
}

const anywhere = 'failed: any-target 50 ms, cost 5';

const table: readonly (readonly [name: string, failed: FailedAttempt, decision: string])[] = [
  ['no connection', failure('upstream_unreachable', { afterSeconds: 1 }), anywhere],
  ['closed before a reply', failure('upstream_connection_error'), anywhere],
  ['a stream that broke before content', failure('upstream_connection_error', { upstreamStatus: 200 }), anywhere],
  ['no HTTP', failure('upstream_invalid_reply'), anywhere],
  ['a 200 that is no reply', failure('upstream_invalid_reply', { upstreamStatus: 200 }), anywhere],
  ['no head in time', failure('upstream_timeout'), 'failed: other-target 50 ms, cost 10'],
  ['a stream that stalls before content', failure('upstream_timeout', { upstreamStatus: 200 }), 'failed: other-target 50 ms, cost 10'],
  ['an upstream that waited in vain itself', failure('upstream_timeout', { upstreamStatus: 504 }), anywhere],
  ...[408, 500, 502, 503, 504, 520, 524, 529].map((status) => [`a ${status}`, answer(status), anywhere] as const),
  ...[400, 404, 405, 409, 410, 413, 415, 422, 424, 499, 501, 505].map(
    (status) => [`a ${status}`, answer(status), 'answered: none'] as const,
  ),
  ['a redirect', failure('upstream_error', { says: 502, upstreamStatus: 302 }), anywhere],
  ['a 401', answer(401), 'credential: other-credential 0 ms, cost 5'],
  ['a 401 in words', failure('upstream_credentials_rejected', { upstreamStatus: 401 }), 'credential: other-credential 0 ms, cost 5'],
  ['a 407 in words', failure('upstream_credentials_rejected', { upstreamStatus: 407 }), 'credential: other-credential 0 ms, cost 5'],
  [
    'a bad key that is a 400',
    failure('upstream_credentials_rejected', { upstreamStatus: 400 }),
    'credential: other-credential 0 ms, cost 5',
  ],
  ['a refusal of a content filter', failure('upstream_content_filtered', { upstreamStatus: 400 }), 'answered: none'],
  [
    'a refusal of a content filter, if the operator lets others answer',
    failure('upstream_content_filtered', { upstreamStatus: 400, mayPassFilter: true }),
    'answered: other-upstream 0 ms, cost 5',
  ],
  ['a 403', answer(403), 'model: other-credential 0 ms, cost 5'],
  ['a 403 about something stored', answer(403, { upstreamWords: ' CachedContent not found (or permission denied)' }), 'answered: none'],
  [
    'a 403 about a file',
    answer(403, { upstreamWords: ' You do not have permission to access the File abc or it may not exist.' }),
    'answered: none',
  ],
  ['a 403 in words', failure('upstream_credentials_rejected', { upstreamStatus: 403 }), 'model: other-credential 0 ms, cost 5'],
  ['an empty account', failure('upstream_quota_exhausted', { upstreamStatus: 402 }), 'model: other-credential 0 ms, cost 5'],
  ['a 429', answer(429), 'limited ?: any-target 250 ms, cost 5'],
  ['a 429 with a time', answer(429, { retryAfterMs: 3000 }), 'limited 3000: any-target 3000 ms, cost 5'],
  [
    'a 429 with a time in its body',
    failure('upstream_rate_limited', { upstreamStatus: 429, afterSeconds: 9 }),
    'limited 9000: any-target 9000 ms, cost 5',
  ],
  ['a 429 with ten seconds', answer(429, { retryAfterMs: 10_000 }), 'limited 10000: any-target 10000 ms, cost 5'],
  ['a 429 with more', answer(429, { retryAfterMs: 10_001 }), 'limited 10001: other-target 250 ms, cost 5'],
  ['a 503 with more', answer(503, { retryAfterMs: 60_000 }), 'failed: other-target 50 ms, cost 5'],
  ['a 503 with a time', answer(503, { retryAfterMs: 1500 }), 'failed: any-target 1500 ms, cost 5'],
  ['a rate limit in a 200', failure('upstream_rate_limited', { upstreamStatus: 200 }), 'limited ?: any-target 250 ms, cost 5'],
  ['an error in a 200', failure('upstream_error', { upstreamStatus: 200 }), anywhere],
  ['overload in a 200', failure('upstream_error', { says: 529, upstreamStatus: 200 }), anywhere],
  ['a wrong request in a 200', failure('upstream_error', { says: 400, upstreamStatus: 200 }), 'answered: none'],
  ['a request that is too long', failure('context_length_exceeded', { upstreamStatus: 400 }), 'answered: none'],
  ['an unknown model', failure('upstream_model_not_found', { upstreamStatus: 404 }), 'answered: none'],
  ['a reply that is too large', failure('upstream_reply_too_large', { upstreamStatus: 200 }), 'answered: none'],
  ['a defect of ours', failure('internal_error', { upstreamStatus: 200 }), 'unknown: none'],
  ['our shutdown', failure('shutting_down'), 'unknown: none'],
  ['our own rate limit', failure('rate_limited'), 'unknown: none'],
  ['a reply that was begun', failure('upstream_connection_error', { upstreamStatus: 200, isDelivered: true }), 'failed: none'],
  ['a client that left', failure('upstream_connection_error', { hasClientLeft: true }), 'unknown: none'],
  ['the second attempt', answer(500, { attempt: 2 }), 'failed: any-target 100 ms, cost 5'],
  ['the second attempt, limited', answer(429, { attempt: 2 }), 'limited ?: any-target 500 ms, cost 5'],
  ['the third attempt', answer(500, { attempt: 3 }), 'failed: none'],
  ['an upstream that says it is no use', answer(500, { isRetryForbidden: true }), 'failed: other-upstream 50 ms, cost 5'],
  ['a limit that says it is no use', answer(429, { isRetryForbidden: true }), 'limited ?: other-upstream 250 ms, cost 5'],
  ['a wrong request, no use', answer(400, { isRetryForbidden: true }), 'answered: none'],
];

describe('each failure has its decision', () => {
  for (const [name, failed, decision] of table) test(name, () => assert.equal(decide(failed), decision));
});

const codes = Object.keys(errorCodes).filter((code): code is ErrorCode => code in errorCodes);
const anyFailure = fc.record({
  code: fc.constantFrom(...codes),
  status: fc.option(fc.integer({ min: 200, max: 599 }), { nil: undefined }),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined }),
  attempt: fc.integer({ min: 1, max: 5 }),
  isDelivered: fc.boolean(),
  hasClientLeft: fc.boolean(),
  isRetryForbidden: fc.boolean(),
  chance: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
});

test('no failure is retried after content, without a client, a fourth time, after a long wait, or if the request is wrong', () => {
  fc.assert(
    fc.property(anyFailure, ({ code, status, retryAfterMs, chance, ...rest }) => {
      const says = status !== undefined && status >= 400 ? { says: status } : {};
      const decision = decideRetry(
        failure(code, { ...rest, ...says, ...(status && { upstreamStatus: status }), ...(retryAfterMs !== undefined && { retryAfterMs }) }),
        () => chance,
      );
      if (rest.hasClientLeft) assert.equal(decision.verdict.type, 'unknown');
      if (!decision.retry) return;
      assert.ok(!rest.isDelivered && !rest.hasClientLeft && rest.attempt < attemptsMax);
      assert.ok(decision.waitMs >= 0 && decision.waitMs <= 10_000);
      assert.ok(decision.verdict.type !== 'answered' && decision.verdict.type !== 'unknown');
      if (rest.isRetryForbidden) assert.equal(decision.reach, 'other-upstream');
    }),
  );
});

describe('the reach bounds the next target', () => {
  const from = { upstreamId: 'u', credentialId: 'c', upstreamModel: 'm' };
  const others = {
    'the same': from,
    'another model': { ...from, upstreamModel: 'n' },
    'another credential': { ...from, credentialId: 'd' },
    'another upstream': { ...from, upstreamId: 'v' },
  };
  const all = Object.keys(others);
  const reaches: Readonly<Record<RetryReach, readonly string[]>> = {
    'any-target': all,
    'other-target': all.slice(1),
    'other-credential': all.slice(2),
    'other-upstream': all.slice(3),
  };
  for (const [reach, within] of Object.entries(reaches) as [RetryReach, readonly string[]][]) {
    test(`of ${reach}: ${within.join(', ')}`, () => {
      const found = Object.entries(others).filter(([, next]) => isWithinReach(reach, from, next));
      assert.deepEqual(
        found.map(([name]) => name),
        within,
      );
    });
  }
});
