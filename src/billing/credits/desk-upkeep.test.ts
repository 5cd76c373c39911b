import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createCreditDesk, type CreditDeskOptions } from './create-credit-desk.ts';
import type { CreditHold, CreditRefusal } from './credit-desk.ts';
import type { LeaseRequest, LeaseStore } from './credit-store.ts';
import { MemoryCreditStore } from './testing/memory-credit-store.ts';
import { balancePot, potsOf } from './pots.ts';
import { payerOf } from './testing/simulated-nodes.ts';

const payer = payerOf('ann', 'k', undefined, { prepaid: true });
const unavailable = { admitted: false, reason: 'unavailable' };
const down = new Error('down');
/** Runs everything that does not wait for a timer. */
const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

/** A desk over an in-memory store that can fail, or not answer for some users; the calls to the store, and the log. */
function createWorld(more: Partial<CreditDeskOptions> = {}) {
  const memory = new MemoryCreditStore();
  memory.setLimits('user:ann', { prepaid: true });
  memory.pay('ann', 1000n);
  const world = {
    nowMs: Date.UTC(2026, 10, 22),
    monotonicMs: 0,
    calls: [] as string[],
    log: [] as string[],
    failing: new Set<string>(),
    unanswered: new Set<string>(),
  };
  const through = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    world.calls.push(name);
    if (world.failing.has(name)) throw down;
    return await work();
  };
  const isUnanswered = ({ pot: { owner } }: LeaseRequest): boolean => owner.level === 'user' && world.unanswered.has(owner.userName);
  const store: LeaseStore = {
    openCreditNode: (node) => through('open', () => memory.openCreditNode(node)),
    releaseCreditNode: (node) => through('release', () => memory.releaseCreditNode(node)),
    changeLeases: (node, requests) =>
      through('lease', () => (requests.some(isUnanswered) ? new Promise(() => {}) : memory.changeLeases(node, requests))),
    readCreditSignals: (node) => through('signals', () => memory.readCreditSignals(node)),
  };
  const note =
    (level: string) =>
    (facts: { err?: Error }, text: string): void =>
      void world.log.push([level, ...Object.values(facts).map((fact) => (fact instanceof Error ? fact.message : fact)), text].join(' '));
  const desk = createCreditDesk({
    store,
    node: { nodeId: 'n', sessionId: 's' },
    clock: { nowMs: () => world.nowMs, monotonicMs: () => world.monotonicMs },
    logger: { info: note('info'), warn: note('warn'), error: note('error') } as CreditDeskOptions['logger'],
    ship: () => through('ship', async () => {}),
    ...more,
  });
  /** Advances the time, ticks, and returns the calls to the store. */
  const tickAfter = async (ms: number): Promise<readonly string[]> => {
    world.monotonicMs += ms;
    await desk.tick();
    return world.calls.splice(0);
  };
  const hold = async (nanoUsd: bigint): Promise<CreditHold | CreditRefusal | undefined> => await desk.hold(payer, nanoUsd, world.nowMs);
  const admitted = async (nanoUsd: bigint): Promise<CreditHold> => {
    const answer = await hold(nanoUsd);
    return answer?.admitted === true ? answer : assert.fail();
  };
  /** Another user with an idle lease. */
  const leaveIdle = async (userName: string): Promise<void> => {
    memory.setLimits(`user:${userName}`, { prepaid: true });
    memory.pay(userName, 1000n);
    const call = await desk.hold(payerOf(userName, `k-${userName}`, undefined, { prepaid: true }), 1n, world.nowMs);
    if (call?.admitted === true) call.end();
    world.unanswered.add(userName);
  };
  return { world, memory, desk, tickAfter, hold, admitted, leaveIdle };
}

test('a desk refuses until the charges of its last run are booked and its leases are released', async () => {
  const { world, desk, tickAfter, hold } = createWorld();
  assert.deepEqual(desk.hold(payer, 1n, world.nowMs), unavailable);
  world.failing.add('open');
  assert.deepEqual(await tickAfter(0), ['open']);
  assert.deepEqual(await tickAfter(1), ['open']);
  assert.deepEqual(await hold(1n), unavailable);
  world.failing.clear();
  world.failing.add('ship');
  assert.deepEqual(await tickAfter(1), ['open', 'ship']);
  assert.deepEqual(await hold(1n), unavailable);
  world.failing.clear();
  assert.deepEqual(await tickAfter(1), ['open', 'ship', 'release', 'signals']);
  assert.equal((await hold(1n))?.admitted, true);
  assert.deepEqual(world.log, ['warn down credit store request failed', 'info credit store recovered']);
});

test('after a minute of failed booking a desk begins without it, and releases nothing', async () => {
  const { world, tickAfter, hold } = createWorld();
  world.failing.add('ship');
  world.monotonicMs = 5000;
  await tickAfter(0);
  assert.deepEqual(await tickAfter(59_999), ['open', 'ship']);
  assert.deepEqual(world.log, []);
  assert.deepEqual(await tickAfter(1), ['open', 'ship', 'signals']);
  assert.equal((await hold(1n))?.admitted, true);
  assert.deepEqual(world.log, ['error n credit leases of the last run kept']);
});

test('the store is queried for changes each second, and only then', async () => {
  const { memory, tickAfter, hold } = createWorld();
  await tickAfter(0);
  await hold(1n);
  assert.deepEqual(await tickAfter(999), ['lease']);
  assert.deepEqual(await tickAfter(1), ['signals']);
  memory.pay('ann', 5n);
  assert.deepEqual(await tickAfter(999), []);
  assert.deepEqual(await tickAfter(1), ['signals', 'lease']);
  assert.deepEqual(await tickAfter(1000), ['signals']);
});

test('a recalled pot is released within a second, and no other', async () => {
  const { memory, world, desk, tickAfter, admitted } = createWorld();
  await tickAfter(0);
  (await admitted(100n)).end();
  const { free } = desk.figures();
  assert.ok(free >= 100n);
  await memory.openCreditNode({ nodeId: 'other', sessionId: 'o', nowMs: world.nowMs });
  const request = { version: 0, generation: 'o', keep: 0n, need: 1000n, recentSpend: 0n, close: false };
  await memory.changeLeases({ nodeId: 'other', sessionId: 'o', nowMs: world.nowMs }, [{ ...request, pot: balancePot('ann') }]);
  await tickAfter(1000);
  assert.equal(desk.figures().free, 0n);
});

test('a call that waits for another process is answered in time while the store does not answer for another user', async () => {
  const { world, memory, desk, tickAfter, hold, leaveIdle } = createWorld({ idleMs: 5000, storeTimeoutMs: 50 });
  await tickAfter(0);
  await leaveIdle('bea');
  await memory.openCreditNode({ nodeId: 'other', sessionId: 'o', nowMs: world.nowMs });
  const pot = balancePot('ann');
  const request = { pot, version: 0, generation: 'o', keep: 0n, need: 1000n, recentSpend: 0n, close: false };
  await memory.changeLeases({ nodeId: 'other', sessionId: 'o', nowMs: world.nowMs }, [request]);
  world.monotonicMs = 10_000;
  const sweep = desk.tick();
  const waiting = hold(500n);
  await turn();
  assert.equal(desk.figures().waiting, 1);
  world.monotonicMs += 1500;
  void desk.tick();
  await turn();
  assert.equal(desk.figures().waiting, 0);
  assert.equal((await waiting)?.admitted, false);
  await sweep;
});

test('a desk that closes waits for one reply of a store that is down, not for one per user', async (context) => {
  // The call to the store times out when the test advances the time, after the desk is closed.
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { world, desk, tickAfter, leaveIdle } = createWorld({ idleMs: 5000, storeTimeoutMs: 50 });
  await tickAfter(0);
  await leaveIdle('bea');
  await leaveIdle('cid');
  world.calls.length = 0;
  world.monotonicMs = 10_000;
  const sweep = desk.tick();
  await turn();
  assert.deepEqual(world.calls, ['signals', 'lease']);
  const closing = desk.close();
  context.mock.timers.tick(50);
  await closing;
  await sweep;
  assert.deepEqual(world.calls, ['signals', 'lease', 'ship', 'release']);
});

test('F9: a release that the store missed is sent again when it is up', async () => {
  const { world, memory, desk, tickAfter, admitted } = createWorld();
  await tickAfter(0);
  (await admitted(10n)).end();
  const [pot] = potsOf(payer, world.nowMs);
  const other = { nodeId: 'o', sessionId: 't', nowMs: world.nowMs, userName: 'ann' };
  await memory.openCreditNode(other);
  const request = { pot: pot ?? assert.fail(), version: 0, generation: 't:1', keep: 0n, need: 1000n, recentSpend: 0n, close: false };
  await memory.changeLeases(other, [request]);
  world.failing.add('lease');
  await tickAfter(1000);
  assert.equal(desk.figures().free, 0n);
  assert.ok(memory.leasedBy('n') > 0n, 'the store did not receive it');
  world.failing.clear();
  await tickAfter(10_000);
  assert.equal(memory.leasedBy('n'), desk.figures().free);
});

test('a fenced desk refuses everything, logs it once and makes no further requests', async () => {
  const { memory, world, tickAfter, hold } = createWorld();
  await tickAfter(0);
  await memory.openCreditNode({ nodeId: 'n', sessionId: 'thief', nowMs: world.nowMs });
  const waiting = hold(1n);
  assert.deepEqual(await waiting, unavailable);
  assert.deepEqual(await hold(1n), unavailable);
  await tickAfter(0);
  assert.deepEqual(await tickAfter(1000), []);
  assert.equal(world.log.length, 1);
  assert.match(world.log[0] ?? '', /^error n credit node fenced/);
});

test('an idle lease is closed at the next sweep, and its user removed at the one after it', async () => {
  const { desk, tickAfter, admitted } = createWorld({ idleMs: 15_000 });
  await tickAfter(0);
  (await admitted(10n)).end();
  await tickAfter(10_000);
  assert.equal(desk.figures().pots, 1);
  assert.ok((await tickAfter(10_000)).includes('lease'));
  assert.deepEqual([desk.figures().free, desk.figures().pots], [0n, 1]);
  await tickAfter(9999);
  assert.equal(desk.figures().pots, 1);
  await tickAfter(1);
  assert.equal(desk.figures().pots, 0);
  (await admitted(10n)).end();
});

test('figures add up what is free, held, waiting and overdrawn', async () => {
  const { world, desk, tickAfter, admitted } = createWorld();
  await tickAfter(0);
  const call = await admitted(900n);
  const { free, held, waiting, pots, overdrafts } = desk.figures();
  assert.deepEqual([free, held, waiting, pots, overdrafts], [100n, 900n, 0, 1, 0]);
  call.charge(1300n);
  const { free: lacking, ...figures } = desk.figures();
  assert.deepEqual([lacking, figures], [-300n, { held: 0n, waiting: 0, pots: 1, overdrafts: 1, overdraftNanoUsd: 300n }]);
  assert.match(world.log[0] ?? '', /^warn balance:ann 300 call charged beyond its credit limit/);
});

test('waiting calls are counted, and refused when the desk closes', async () => {
  const { world, desk, tickAfter, hold } = createWorld({ contendMs: 60_000 });
  await tickAfter(0);
  world.calls.length = 0;
  const waiting = [hold(1n), hold(2n)];
  assert.equal(desk.figures().waiting, 2);
  await desk.close();
  assert.deepEqual(await Promise.all(waiting), [unavailable, unavailable]);
  assert.deepEqual(await hold(1n), unavailable);
});

test('a desk that closes books all charges, and releases its leases if no call has a hold', async () => {
  for (const [isHeld, calls] of [
    [false, ['ship', 'release']],
    [true, ['ship']],
  ] as const) {
    const { world, desk, tickAfter, admitted } = createWorld();
    await tickAfter(0);
    const call = await admitted(5n);
    if (!isHeld) call.end();
    world.calls.length = 0;
    await desk.close();
    assert.deepEqual(world.calls.splice(0), calls);
    assert.deepEqual(call.extend(5n), isHeld ? unavailable : undefined);
    assert.deepEqual(await tickAfter(60_000), []);
  }
});

test('a desk that never began releases nothing, and one that cannot book at its end logs it', async () => {
  const fresh = createWorld();
  await fresh.desk.close();
  assert.deepEqual(fresh.world.calls, []);
  const { world, desk, tickAfter } = createWorld();
  await tickAfter(0);
  world.failing.add('ship');
  await desk.close();
  assert.deepEqual(world.log, ['warn down credit store request failed']);
});
