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

/** Time passes for all processes that live. */
async function pass(ms: number, living: readonly SimulatedNode[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    world.monotonicMs += 250;
    world.nowMs += 250;
    for (const each of living) await each.desk.tick();
    await settle();
  }
}

/** The other process dies, and says nothing from then on. */
async function die(share: bigint): Promise<void> {
  world.crash(other, share);
  await pass(1000, [node]);
}

/** What a process says of a call, after as long as it takes. */
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

describe('a limit of which a process that is gone has leased a part', () => {
  test('is not said to be reached while nobody knows: those who ask are told to try again', async () => {
    await lend();
    await die(50n);
    assert.equal(reasonOf(await ask(500n, [node])), 'unavailable');
    assert.equal(reasonOf(await ask(1000n, [node])), 'unavailable', 'it may have spent nothing');
    assert.equal(reasonOf(await ask(100n, [node])), 'admitted', 'what is there is there');
  });

  test('is said to be reached for what is beyond it, whatever comes back', async () => {
    await lend();
    await die(0n);
    assert.equal(reasonOf(await ask(1001n, [node])), 'spend-limit');
  });

  test('is unknown also while the next life of that process has not booked what the last one spent', async () => {
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

  test('is said to be reached when processes that live hold the rest', async () => {
    await lend();
    assert.equal(reasonOf(await ask(500n, [node, other])), 'spend-limit');
    assert.equal(reasonOf(await ask(500n, [node, other])), 'spend-limit', 'also to who asks next');
  });

  test('is said to be reached when what a dead process has would not do', async () => {
    const third = await world.start('node-2');
    await world.open(other, payer, 300n);
    await world.open(third, payer, 600n);
    await pass(1000, [node, third]);
    assert.equal(reasonOf(await ask(500n, [node, third])), 'spend-limit');
    assert.equal(reasonOf(await ask(400n, [node, third])), 'unavailable');
  });

  test('a balance is the same', async () => {
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
