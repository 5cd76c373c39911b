import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { CreditHold, CreditRefusal, Payer } from './credit-desk.ts';
import { payerOf, settle, SimulatedNodes, type SimulatedNode } from './testing/simulated-nodes.ts';

const prepaid = payerOf('ann', 'k', undefined, { prepaid: true });

async function begin(nanoUsd: bigint, nodes = 1): Promise<{ readonly world: SimulatedNodes; readonly node: SimulatedNode }> {
  const world = new SimulatedNodes();
  world.store.setLimits('user:ann', { prepaid: true });
  world.store.pay('ann', nanoUsd);
  const started = [];
  for (let count = 0; count < nodes; count += 1) started.push(await world.start(`node-${count}`));
  return { world, node: started[0] ?? assert.fail() };
}

function admitted(answer: CreditHold | CreditRefusal | undefined): CreditHold {
  assert.ok(answer?.admitted === true, `not admitted: ${JSON.stringify(answer, (_, value: unknown) => String(value))}`);
  return answer;
}

const holdOn = async (world: SimulatedNodes, node: SimulatedNode, nanoUsd: bigint, payer: Payer = prepaid) =>
  await node.desk.hold(payer, nanoUsd, world.nowMs);

describe('the credit desk', () => {
  test('a payer without limits needs no hold', async () => {
    const { world, node } = await begin(0n);
    assert.equal(node.desk.hold(payerOf('ann', 'k', undefined, undefined), 5n, world.nowMs), undefined);
    assert.equal(node.desk.hold(payerOf('ann', 'k', { requestsPerMinute: 5 }, {}), 5n, world.nowMs), undefined);
  });

  test('the first call queries the store and later ones do not', async () => {
    const { world, node } = await begin(1_000_000n);
    assert.ok(node.desk.hold(prepaid, 100n, world.nowMs) instanceof Promise);
    await settle();
    for (let count = 0; count < 10; count += 1) assert.ok(!(node.desk.hold(prepaid, 100n, world.nowMs) instanceof Promise));
  });

  test('F1 F2 F4: a thousand calls at once spend what is available and not more', async () => {
    const { world, node } = await begin(5000n);
    const answers = await Promise.all(Array.from({ length: 1000 }, () => holdOn(world, node, 100n)));
    assert.equal(answers.filter((answer) => answer?.admitted === true).length, 50);
    assert.ok(answers.every((answer) => answer?.admitted === true || answer?.reason === 'balance'));
  });

  test('F5: every call is held, however much is available, and the limit is never exceeded', async () => {
    const { world, node } = await begin(1_000_000_000_000n);
    for (let count = 0; count < 100; count += 1) {
      admitted(await holdOn(world, node, 10_000_000_000n));
      assert.equal(node.desk.figures().held, 10_000_000_000n * BigInt(count + 1));
    }
    assert.equal((await holdOn(world, node, 1n))?.admitted, false);
  });

  test('F16: a limit of the user holds for each of its keys, whatever limits the key has of its own', async () => {
    const { world, node } = await begin(0n);
    const userLimits = { spendPerDay: '0.000000500' };
    world.store.setLimits('user:ann', userLimits);
    world.store.setLimits('key:rich', { spendPerDay: '5' });
    const rich = payerOf('ann', 'rich', { spendPerDay: '5' }, userLimits);
    const hold = admitted(await holdOn(world, node, 400n, rich));
    for (const payer of [
      rich,
      payerOf('ann', 'other', undefined, userLimits),
      payerOf('ann', 'new', { requestsPerMinute: 5 }, userLimits),
    ]) {
      const answer = await holdOn(world, node, 101n, payer);
      assert.ok(answer?.admitted === false && answer.reason === 'spend-limit' && answer.scope === 'user');
    }
    hold.charge(400n);
    hold.end();
    admitted(await holdOn(world, node, 100n, payerOf('ann', 'other', undefined, userLimits)));
  });

  test('F6: three processes and a thousand calls spend what is available and not more', async () => {
    const { world } = await begin(5000n, 3);
    const answers = await Promise.all(
      Array.from({ length: 999 }, (_, at) => holdOn(world, world.nodes[at % 3] ?? assert.fail(), 100n)).map(settleIn(world)),
    );
    assert.ok(answers.filter((answer) => answer?.admitted === true).length <= 50);
    assert.equal(world.store.leasedOf('balance:ann'), 5000n);
  });

  test('F8 F13 M7: calls without a charge, and refused calls, leave nothing reserved', async () => {
    const { world, node } = await begin(1000n);
    for (let count = 0; count < 10_000; count += 1) {
      const answer = await holdOn(world, node, count % 3 === 0 ? 2000n : 700n);
      if (answer?.admitted === true) answer.end();
    }
    assert.equal(node.desk.figures().held, 0n);
    admitted(await holdOn(world, node, 1000n));
  });

  test('F11 M5: a hold that is ended twice is released once, and a charge reduces the hold', async () => {
    const { world, node } = await begin(1000n);
    const hold = admitted(await holdOn(world, node, 600n));
    hold.charge(200n);
    assert.equal(hold.heldNanoUsd(), 600n);
    hold.end();
    hold.end();
    assert.equal(node.desk.figures().held, 0n);
    assert.equal((await holdOn(world, node, 801n))?.admitted, false);
    admitted(await holdOn(world, node, 800n));
  });

  test('F14: a charge beyond its hold is booked in full and logged, and no further call is admitted until it is covered', async () => {
    const { world, node } = await begin(1000n);
    const hold = admitted(await holdOn(world, node, 900n));
    hold.charge(1300n);
    hold.end();
    const { overdrafts, overdraftNanoUsd } = node.desk.figures();
    assert.equal(overdrafts, 1);
    assert.ok(overdraftNanoUsd > 0n);
    assert.equal((await holdOn(world, node, 1n))?.admitted, false);
    world.store.append(
      [{ callId: 'c', userName: 'ann', keyId: 'k', acceptedAtMs: world.nowMs, amountNanoUsd: 1300n, heldPots: hold.pots }],
      'node-0',
    );
    assert.equal((await holdOn(world, node, 1n))?.admitted, false);
    world.store.pay('ann', 400n);
    assert.equal((await holdOn(world, node, 101n))?.admitted, false);
    admitted(await holdOn(world, node, 100n));
  });

  test('a call that extends its hold gets it from all its pots or from none', async () => {
    const { world, node } = await begin(10_000n);
    const key = payerOf('ann', 'k', { spendPerDay: '0.000000500' }, { prepaid: true });
    world.store.setLimits('key:k', { spendPerDay: '0.000000500' });
    const hold = admitted(await holdOn(world, node, 400n, key));
    const refusal = await hold.extend(200n);
    assert.deepEqual([refusal?.reason, hold.heldNanoUsd()], ['spend-limit', 400n]);
    assert.equal(await hold.extend(100n), undefined);
    assert.equal(hold.heldNanoUsd(), 500n);
    assert.deepEqual(await holdOn(world, node, 1n, key), {
      admitted: false,
      reason: 'spend-limit',
      scope: 'key',
      period: 'day',
      limitNanoUsd: 500n,
      availableNanoUsd: 0n,
      resetsAtMs: Date.UTC(2026, 10, 23),
    });
  });

  test('a new day begins a new limit, and calls accepted before count for the old one', async () => {
    const { world, node } = await begin(10_000n);
    const key = payerOf('ann', 'k', { spendPerDay: '0.000000500' }, undefined);
    world.store.setLimits('key:k', { spendPerDay: '0.000000500' });
    const late = admitted(await holdOn(world, node, 500n, key));
    world.nowMs += 3_600_000;
    admitted(await holdOn(world, node, 500n, key)).end();
    late.charge(500n);
    late.end();
    admitted(await holdOn(world, node, 500n, key));
  });

  test('F12, R1: while the store is down calls use the lease, and are then refused as unavailable', async () => {
    const { world, node } = await begin(100_000n);
    admitted(await holdOn(world, node, 1000n)).end();
    node.fault = 'down';
    let calls = 0;
    for (;;) {
      const answer = await holdOn(world, node, 1000n);
      if (answer?.admitted === true) calls += 1;
      else {
        assert.deepEqual(answer, { admitted: false, reason: 'unavailable' });
        break;
      }
    }
    assert.ok(calls >= 10, `${calls} calls`);
    node.fault = 'none';
    admitted(await holdOn(world, node, 1000n));
  });

  test('a payment counts at once for a refused caller, and a lowered limit within about a second', async () => {
    const { world, node } = await begin(100n);
    assert.equal((await holdOn(world, node, 200n))?.admitted, false);
    world.store.pay('ann', 100_000n);
    admitted(await holdOn(world, node, 200n)).end();
    world.store.pay('ann', -100_000n);
    world.monotonicMs += 1000;
    await node.desk.tick();
    assert.equal((await holdOn(world, node, 200n))?.admitted, false);
    assert.equal(world.store.leasedOf('balance:ann'), 100n);
  });

  test('a user whose books do not add up is refused, and no other user', async () => {
    const { world, node } = await begin(1000n);
    node.desk.freeze(new Set(['user:ann']));
    assert.deepEqual(await holdOn(world, node, 1n), { admitted: false, reason: 'unavailable' });
    world.store.setLimits('user:bob', { prepaid: true });
    world.store.pay('bob', 10n);
    admitted(await holdOn(world, node, 1n, payerOf('bob', 'b', undefined, { prepaid: true })));
    node.desk.freeze(new Set());
    admitted(await holdOn(world, node, 1n));
  });

  test('a process whose node id was taken over refuses calls with a limit', async () => {
    const { world, node } = await begin(1000n);
    admitted(await holdOn(world, node, 1n));
    await world.store.openCreditNode({ nodeId: 'node-0', sessionId: 'thief', nowMs: world.nowMs });
    world.monotonicMs += 1000;
    await node.desk.tick();
    assert.deepEqual(await holdOn(world, node, 1n), { admitted: false, reason: 'unavailable' });
  });

  test('an unused lease of another process is moved to the one that needs it', async () => {
    const { world, node } = await begin(100_000n, 2);
    const other = world.nodes[1] ?? assert.fail();
    admitted(await holdOn(world, other, 1000n)).end();
    const answer = holdOn(world, node, 95_000n);
    await settle();
    world.monotonicMs += 1000;
    await other.desk.tick();
    await node.desk.tick();
    admitted(await answer);
  });

  test('an idle lease is released after a minute', async () => {
    const { world, node } = await begin(1000n);
    admitted(await holdOn(world, node, 100n)).end();
    assert.ok(world.store.leasedOf('balance:ann') > 0n);
    world.monotonicMs += 61_000;
    await node.desk.tick();
    assert.equal(world.store.leasedOf('balance:ann'), 0n);
  });
});

/** Lets other processes release what they do not use while calls wait. */
function settleIn(world: SimulatedNodes) {
  let ticking: Promise<void> | undefined;
  const tick = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn += 1) {
      await settle();
      world.monotonicMs += 250;
      for (const node of world.nodes) await node.desk.tick();
    }
  };
  return async <Result>(answer: Promise<Result>): Promise<Result> => {
    ticking ??= tick();
    await ticking;
    return await answer;
  };
}
