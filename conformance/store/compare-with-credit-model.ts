import assert from 'node:assert/strict';

import fc from 'fast-check';

import type { AccessLimits } from '../../src/accounts/access-limits.ts';
import type { LeaseState } from '../../src/billing/credits/credit-store.ts';
import { MemoryCreditStore } from '../../src/billing/credits/testing/memory-credit-store.ts';
import { allPots, payerOf, type PotOwner } from '../../src/billing/credits/pots.ts';
import type { Store } from '../../src/store/store.ts';
import { createEntry } from './call-entries.ts';
import { startMs } from './suite-start.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

const nowMs = startMs + 1000;
/** The limits of the teams in these tests. */
export const teamLimits: AccessLimits = { prepaid: true, spendPerDay: '0.000000500', spendTotal: '0.000000900' };
/** An amount below a dollar as a decimal string. */
export const usd = (nanoUsd: number): string => `0.${String(nanoUsd).padStart(9, '0')}`;

type LeaseStep = {
  readonly type: 'lease';
  readonly node: number;
  readonly pot: number;
  readonly stale: boolean;
  readonly back: number;
  readonly need: number;
  readonly close: boolean;
};
type Step =
  | LeaseStep
  | { readonly type: 'append'; readonly node: number; readonly nanoUsd: number; readonly heldPots: number }
  | { readonly type: 'pay'; readonly nanoUsd: number }
  | { readonly type: 'limit'; readonly nanoUsd: number };

const small = fc.nat({ max: 200 });
const userBalance = 1;
const teamBalance = 128;
/** Bits of the pots of a key, a user and a team, with at most one balance. */
const oneBalance = fc.nat({ max: 2047 }).map((bits) => ((bits & teamBalance) === 0 ? bits : bits & ~userBalance));
const node = fc.nat({ max: 1 });
/** Plans of operations by two processes on the pots of a key, a user and a team. */
export const creditSteps = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant('lease' as const),
        node,
        pot: fc.nat({ max: 10 }),
        stale: fc.nat({ max: 9 }).map((each) => each === 0),
        back: small,
        need: small,
        close: fc.nat({ max: 4 }).map((each) => each === 0),
      }),
    },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('append' as const), node, nanoUsd: small, heldPots: oneBalance }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('pay' as const), nanoUsd: small }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('limit' as const), nanoUsd: small }) },
  ),
  { minLength: 20, maxLength: 40 },
);

/** Applies an operation to a store and to its model, and compares the results. */
export async function compareWithModel(store: Store, userName: string, plan: readonly Step[], aliveMs: number): Promise<void> {
  const model = new MemoryCreditStore();
  const keyId = `key-${userName}`;
  const teamId = `t-${userName}`;
  // All tests share the organization.
  const pots = allPots({ userName, keyId, teamId, acceptedAtMs: nowMs }).filter(({ owner }) => owner.level !== 'organization');
  const known = new Map<string, LeaseState>();
  const lives = [0, 1].map((index) => ({ nodeId: `${userName}.${index}`, sessionId: 's', nowMs: aliveMs }));
  for (const life of lives) for (const each of [store, model]) await each.openCreditNode(life);
  model.setLimits(`user:${userName}`, { prepaid: true, spendPerMonth: usd(700) });
  model.setLimits(`key:${keyId}`, { spendPerDay: usd(400) });
  model.setLimits(`team:${teamId}`, teamLimits);
  for (const [index, step] of plan.entries()) {
    const life = lives['node' in step ? step.node : 0] ?? assert.fail();
    if (step.type === 'pay') {
      const payment = {
        transactionId: `${userName}:${index}`,
        kind: 'top_up',
        against: 'deposits',
        postedAtMs: nowMs,
        actor: 't',
      } as const;
      const owner: PotOwner = step.nanoUsd % 2 === 0 ? { level: 'user', userName } : { level: 'team', teamId };
      await store.postTransaction({ ...payment, owner, amountNanoUsd: BigInt(step.nanoUsd) }, changeAt());
      model.pay(owner, BigInt(step.nanoUsd));
    } else if (step.type === 'limit') {
      await store.changeUserLimits(userName, { spendPerMonth: usd(step.nanoUsd) }, changeAt());
      model.setLimits(`user:${userName}`, { prepaid: true, spendPerMonth: usd(step.nanoUsd) });
    } else if (step.type === 'append') {
      const row = { callId: `${userName}-${index}`, userName, keyId, acceptedAtMs: nowMs, heldPots: step.heldPots };
      const payer = payerOf(step.heldPots);
      const ofTeam = { team: { id: teamId, name: userName }, ...(payer !== undefined && { payer }) };
      await store.appendEntries(
        [createEntry(row.callId, { ...row, ...ofTeam, charge: { amountNanoUsd: BigInt(step.nanoUsd), lines: [] } })],
        life.nodeId,
      );
      model.append([{ ...row, teamId, amountNanoUsd: BigInt(step.nanoUsd) }], life.nodeId);
    } else {
      const pot = pots[step.pot] ?? assert.fail();
      const key = `${life.nodeId} ${pot.id}`;
      const state = step.stale ? undefined : known.get(key);
      const granted = state?.granted ?? 0n;
      const keep = granted > BigInt(step.back) ? granted - BigInt(step.back) : granted;
      const generation = state?.generation ?? `s:g${index}`;
      const request = { pot, version: state?.version ?? 0, generation, keep, need: BigInt(step.need), recentSpend: 0n, close: step.close };
      const replies = await Promise.all([store, model].map((each) => each.changeLeases(life, [request])));
      assert.deepEqual(replies[0], replies[1]);
      const [reply] = replies;
      if (reply?.status === 'leased' && reply.leases[0] !== undefined) known.set(key, reply.leases[0]);
    }
  }
  const reports = await store.readPots(pots);
  for (const { pot, spentNanoUsd, leasedNanoUsd } of reports) {
    if (pot.kind === 'spend') assert.equal(spentNanoUsd, model.spentOf(pot.id));
    assert.equal(leasedNanoUsd, model.leasedOf(pot.id));
  }
  for (const owner of [{ level: 'user', userName } as const, { level: 'team', teamId } as const])
    assert.equal((await store.readBalances({ owner, limit: 1 }))[0]?.balanceNanoUsd ?? 0n, model.balanceOf(owner));
  for (const { nodeId } of lives) await store.releaseCreditNode({ nodeId });
}
