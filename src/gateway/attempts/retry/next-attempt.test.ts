import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Target } from '../routing/target.ts';
import { chooseNext, chooseOther, freeGrant, type TargetSnapshot, takeBudget } from './next-attempt.ts';
import { createRetryBudget } from './retry-budget.ts';
import type { RetryDecision } from './retry-policy.ts';

type Retry = Extract<RetryDecision, { retry: true }>;

const targetOf = (name: string): Target => {
  const [id = '', credentialId = '1'] = name.split('#');
  return { upstream: { id, credentialId }, upstreamModel: 'm' } as unknown as Target;
};
const [a, a2, b, c] = ['a', 'a#2', 'b', 'c'].map(targetOf) as [Target, Target, Target, Target];

const after = (verdict: Retry['verdict'], reach: Retry['reach'] = 'any-target'): Retry => ({
  verdict,
  retry: true,
  reach,
  waitMs: 90,
  cost: 5,
});
const failed = after({ type: 'failed', cause: 'reply' });
const limited = after({ type: 'rate-limited' });

const healthy: TargetSnapshot = { availability: { usable: true, state: 'healthy' }, isWorthRetry: true };
const suspect: TargetSnapshot = { availability: { usable: true, state: 'suspect' }, isWorthRetry: true };
const limitedFor = (againInMs: number): TargetSnapshot => ({
  availability: { usable: false, reason: 'rate-limited', againInMs },
  isWorthRetry: true,
});
const hopeless: TargetSnapshot = { ...healthy, isWorthRetry: false };

const see =
  (known: ReadonlyMap<Target, TargetSnapshot>) =>
  (target: Target): TargetSnapshot =>
    known.get(target) ?? healthy;
const name = (next: { readonly target: Target; readonly waitMs: number } | undefined): string =>
  next === undefined ? 'none' : `${next.target.upstream.id}#${next.target.upstream.credentialId} ${next.waitMs}`;

const cases: readonly (readonly [
  title: string,
  untried: readonly Target[],
  decision: Retry,
  known: readonly (readonly [Target, TargetSnapshot])[],
  expected: string,
])[] = [
  ['a healthy target goes before a suspect one of a better place', [b, c], failed, [[b, suspect]], 'c#1 0'],
  ['a suspect one is waited for', [b], failed, [[b, suspect]], 'b#1 90'],
  ['another upstream goes before another credential of the one that failed', [a2, b], failed, [], 'b#1 0'],
  ['a limit of one credential leads to the next', [a2, b], limited, [], 'a#2 0'],
  ['a target where the caller has no chance is left out', [b, c], failed, [[b, hopeless]], 'c#1 0'],
  ['without another, the same is asked once more after a wait', [], failed, [], 'a#1 90'],
  ['what forbids the same upstream ends there', [a2], after(failed.verdict, 'other-upstream'), [], 'none'],
  ['a limit that is named is waited for', [], limited, [[a, limitedFor(3000)]], 'a#1 3000'],
  ['a limit that lasts is not', [], limited, [[a, limitedFor(30_000)]], 'none'],
  ['the same target is not asked again where that has no chance', [], failed, [[a, hopeless]], 'none'],
];
for (const [title, untried, decision, known, expected] of cases) {
  test(title, () => assert.equal(name(chooseNext(untried, { failed: a, decision }, see(new Map(known)))), expected));
}

test('a retry at other targets never chooses the same one again', () => {
  assert.equal(chooseOther([], { failed: a, decision: failed }, see(new Map())), undefined);
});

test('only retries at the same upstream, or after a wait, count as retries at a time', () => {
  const services = { retryBudget: createRetryBudget(), deadlines: { size: () => 1 } } as unknown as Parameters<typeof takeBudget>[0];
  const failure = { failed: a, decision: failed };
  const take = (target: Target, waitMs: number) => takeBudget(services, failure, { target, waitMs });
  for (let held = 0; held < 3; held += 1) assert.ok(take(a, 0));
  assert.deepEqual([take(a2, 0), take(b, 90), take(b, 0)], [undefined, undefined, freeGrant]);
});
