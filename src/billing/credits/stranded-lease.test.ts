import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import type { CreditHold, CreditRefusal } from './credit-desk.ts';
import { payerOf, settle, SimulatedNodes, type SimulatedNode } from './testing/simulated-nodes.ts';

const limits = { spendTotal: '0.000001000' };
const payer = payerOf('ann', 'k', limits, undefined);
const pot = 'key:total:k';

/** Two processes and a key that may spend 1000 nano-USD. */
let world: SimulatedNodes;
let node: SimulatedNode;
let other: SimulatedNode;

beforeEach(async () => {
  world = new SimulatedNodes();
  world.store.setLimits('key:k', limits);
  node = await world.start('node-0');
  other = await world.start('node-1');
});

/** Advances the time of all running processes. */
async function pass(ms: number, living: readonly SimulatedNode[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    world.monotonicMs += 250;
    world.nowMs += 250;
    for (const each of living) await each.desk.tick();
    await settle();
  }
}

/** Kills the other process, which is silent from then on. */
async function die(share: bigint): Promise<void> {
  world.crash(other, share);
  await pass(1000, [node]);
}

/** The answer of a process to a call, after the time that it needs. */
async function ask(nanoUsd: bigint, living: readonly SimulatedNode[]): Promise<CreditHold | CreditRefusal> {
  const answer = Promise.resolve(node.desk.hold(payer, nanoUsd, world.nowMs));
  await pass(3000, living);
  return (await answer) ?? assert.fail();
}

const reasonOf = (answer: CreditHold | CreditRefusal): string => (answer.admitted ? 'admitted' : answer.reason);

/** The other process leases 900 of the 1000 for a call of its own. */
async function lend(): Promise<void> {
  await world.open(other, payer, 900n);
  assert.equal(world.store.leasedOf(pot), 900n);
}

describe('a limit of which a dead process has leased a part', () => {
  test('is not reported as reached while that is unknown: calls get a refusal that they can retry', async () => {
    await lend();
    await die(50n);
    assert.equal(reasonOf(await ask(500n, [node])), 'unavailable');
    assert.equal(reasonOf(await ask(1000n, [node])), 'unavailable', 'the dead process may have spent nothing');
    assert.equal(reasonOf(await ask(100n, [node])), 'admitted', 'the rest is available');
  });

  test('is reported as reached for an amount beyond it, whatever is released', async () => {
    await lend();
    await die(0n);
    assert.equal(reasonOf(await ask(1001n, [node])), 'spend-limit');
  });

  test('is unknown until the next run of that process has booked the spend of the last one', async () => {
    await lend();
    world.crash(other, 50n);
    other.shipping = false;
    await world.restart(other);
    assert.equal(reasonOf(await ask(500n, [node, other])), 'unavailable');
    other.shipping = true;
    await pass(1000, [node, other]);
    assert.equal(reasonOf(await ask(500n, [node, other])), 'admitted');
    assert.equal(reasonOf(await ask(500n, [node, other])), 'spend-limit');
  });

  test('is reported as reached if running processes hold the rest', async () => {
    await lend();
    assert.equal(reasonOf(await ask(500n, [node, other])), 'spend-limit');
    assert.equal(reasonOf(await ask(500n, [node, other])), 'spend-limit', 'also for the next call');
  });

  test('is reported as reached if the lease of the dead process would not be sufficient', async () => {
    const third = await world.start('node-2');
    await world.open(other, payer, 300n);
    await world.open(third, payer, 600n);
    await pass(1000, [node, third]);
    assert.equal(reasonOf(await ask(500n, [node, third])), 'spend-limit');
    assert.equal(reasonOf(await ask(400n, [node, third])), 'unavailable');
  });

  test('a balance behaves the same', async () => {
    const prepaid = payerOf('ann', 'k', undefined, { prepaid: true });
    world.store.setLimits('user:ann', { prepaid: true });
    world.store.pay('ann', 1000n);
    await world.open(other, prepaid, 900n);
    await die(0n);
    for (const [nanoUsd, reason] of [
      [500n, 'unavailable'],
      [1001n, 'balance'],
    ] as const) {
      const answer = Promise.resolve(node.desk.hold(prepaid, nanoUsd, world.nowMs));
      await pass(3000, [node]);
      assert.equal(reasonOf((await answer) ?? assert.fail()), reason);
    }
  });
});
