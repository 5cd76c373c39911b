import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CreditRefusal } from './credit-desk.ts';
import type { LeaseReply, LeaseRequest, LeaseState } from './credit-store.ts';
import { LeasedPot } from './leased-pot.ts';
import { type QueueContext, LeaseQueue } from './lease-queue.ts';
import { balancePot, allPots, type Pot } from './pots.ts';

const nowMs = Date.UTC(2026, 10, 22, 12);
const [balance, keyDay, , keyTotal] = allPots({ userName: 'ann', keyId: 'k', acceptedAtMs: nowMs });
const unavailable = { admitted: false, reason: 'unavailable' };

type Answer = (request: LeaseRequest) => Partial<LeaseState>;

/** An account whose store grants every need unless the test changes the answer, and the requests to it. */
function createWorld(more: Partial<QueueContext> = {}) {
  const world = {
    monotonicMs: 0,
    nowMs,
    requests: [] as (readonly LeaseRequest[])[],
    answer: (() => ({})) as Answer,
    failure: undefined as Error | undefined,
    isFenced: false,
    reported: [] as unknown[],
  };
  const changeLeases = async (_: unknown, requests: readonly LeaseRequest[]): Promise<LeaseReply> => {
    world.requests.push(requests);
    if (world.failure !== undefined) throw world.failure;
    if (world.isFenced) return { status: 'fenced' };
    const stateOf = (request: LeaseRequest): LeaseState => {
      const { pot, version, generation, keep, need } = request;
      const limits = { limit: 1000n, remaining: 0n, leasedElsewhere: 0n, stranded: 0n, scarce: false };
      return { potId: pot.id, version: version + 1, generation, granted: keep + need, ...limits, ...world.answer(request) };
    };
    return { status: 'leased', leases: requests.map(stateOf) };
  };
  let generations = 0;
  const account = new LeaseQueue({
    store: { changeLeases },
    node: { nodeId: 'n', sessionId: 's' },
    nowMs: () => world.nowMs,
    monotonicMs: () => world.monotonicMs,
    onEnded: () => {},
    storeTimeoutMs: 1000,
    waitMs: 5000,
    contendMs: 1500,
    waitersMax: 3,
    onFenced: () => void world.reported.push('fenced'),
    onStoreFailure: (error) => void world.reported.push(error),
    onBug: (error) => void world.reported.push(error),
    ...more,
  });
  /** The lease of a pot in the queue. */
  const potFor = (pot: Pot): LeasedPot => {
    for (const known of account.pots()) if (known.pot.id === pot.id) return known;
    const leased = new LeasedPot(pot, `g${(generations += 1)}`, world.monotonicMs);
    account.add(leased);
    return leased;
  };
  const pot = potFor(balance ?? assert.fail());
  /** Waits for an amount; an admitted waiter reserves it. */
  const ask = (nanoUsd: bigint, pots: readonly LeasedPot[] = [pot]): Promise<CreditRefusal | undefined> =>
    new Promise((resolve) => {
      account.wait(pots, nanoUsd, (refusal) => {
        if (refusal === undefined) for (const each of pots) each.hold(nanoUsd);
        resolve(refusal);
      });
    });
  return { world, account, pot, ask, potFor };
}

const wants = (requests: readonly (readonly LeaseRequest[])[]) =>
  requests.map((each) => each.map(({ keep, need, close }) => [keep, need, close]));

test('calls of the same turn share one request, and are served in order', async () => {
  const { world, account, pot, ask } = createWorld();
  assert.deepEqual(await Promise.all([ask(30n), ask(20n)]), [undefined, undefined]);
  assert.deepEqual(wants(world.requests), [[[0n, 50n, false]]]);
  assert.deepEqual([pot.held, pot.free, account.waiting, account.size], [50n, 0n, 0, 1]);
  assert.deepEqual([...account.pots()], [pot]);
});

test('a free amount is not requested again', async () => {
  const { world, ask, pot } = createWorld();
  await ask(50n);
  pot.release(30n);
  await ask(40n);
  assert.deepEqual(wants(world.requests.slice(1)), [[[50n, 10n, false]]]);
});

test('a call may ask again within its answer, whatever the answer was', async () => {
  const { world, ask } = createWorld();
  for (let count = 0; count < 3; count += 1) assert.equal(await ask(10n), undefined);
  world.failure = new Error('down');
  for (let count = 0; count < 3; count += 1) assert.deepEqual(await ask(10n), unavailable);
  assert.equal(world.requests.length, 6);
});

test('a call beyond the limit of waiters is refused at once', async () => {
  const { account, ask } = createWorld();
  const waiting = [ask(1n), ask(1n), ask(1n)];
  assert.equal(account.waiting, 3);
  assert.deepEqual(await ask(1n), unavailable);
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined, undefined]);
});

test('an unavailable amount is refused, with the remaining amount or the time of the reset', async () => {
  const { world, ask, potFor } = createWorld();
  world.answer = ({ keep }) => ({ granted: keep + 10n, remaining: 5n });
  assert.deepEqual(await ask(16n), { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: 15n });
  assert.equal(await ask(10n), undefined);
  world.answer = ({ keep }) => ({ granted: keep, remaining: -20n });
  assert.deepEqual(await ask(1n), { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: 0n });
  world.answer = ({ keep }) => ({ granted: keep });
  const limit = { admitted: false, reason: 'spend-limit', scope: 'key', limitNanoUsd: 1000n, availableNanoUsd: 0n };
  const day = potFor(keyDay ?? assert.fail());
  assert.deepEqual(await ask(1n, [day]), { ...limit, period: 'day', resetsAtMs: Date.UTC(2026, 10, 23) });
  const total = potFor(keyTotal ?? assert.fail());
  assert.deepEqual(await ask(1n, [total]), { ...limit, period: 'total' });
});

test('calls wait a while for leases of other nodes, and then not at all for five seconds', async () => {
  const { world, account, ask } = createWorld();
  world.answer = ({ keep }) => ({ granted: keep, leasedElsewhere: 100n });
  const first = ask(50n);
  await account.flush();
  assert.equal(account.waiting, 1);
  world.monotonicMs = 1499;
  account.tick(60_000);
  await account.flush();
  assert.equal(account.waiting, 1);
  world.monotonicMs = 1500;
  account.tick(60_000);
  const refused = { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: 0n };
  assert.deepEqual(await first, refused);
  assert.deepEqual(await ask(50n), refused);
  world.monotonicMs = 6500;
  const later = ask(100n);
  await account.flush();
  assert.equal(account.waiting, 1);
  world.answer = () => ({});
  account.tick(60_000);
  assert.equal(await later, undefined);
});

test('an amount above the rest and the leases of dead processes is refused', async () => {
  const { world, ask } = createWorld();
  world.answer = ({ keep }) => ({ granted: keep, leasedElsewhere: 30n, stranded: 30n, remaining: 5n });
  const refused = ask(36n);
  assert.deepEqual(await refused, { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: 5n });
});

test('an amount above the rest and the leases of all other nodes is refused at once', async () => {
  const { world, ask } = createWorld();
  world.answer = ({ keep }) => ({ granted: keep, leasedElsewhere: 100n, remaining: 5n });
  assert.deepEqual(await ask(106n), { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: 5n });
});

test('no call waits beyond its limit', async () => {
  const { world, account, ask } = createWorld();
  // The store has the amount and does not grant it: it is called again while a call waits.
  const { promise, resolve } = Promise.withResolvers<void>();
  world.answer = ({ keep }) => {
    world.monotonicMs = 5000;
    resolve();
    return { granted: keep, remaining: 100n };
  };
  const answer = ask(50n);
  await promise;
  assert.deepEqual(await answer, unavailable);
  await account.flush();
});

test('without the store, the lease serves the calls that it is sufficient for', async () => {
  const { world, pot, ask } = createWorld();
  await ask(50n);
  world.failure = new Error('down');
  const large = ask(60n);
  pot.release(50n);
  const small = ask(20n);
  assert.deepEqual(await Promise.all([large, small]), [unavailable, undefined]);
  assert.deepEqual(world.reported, [world.failure]);
});

test('a fenced incarnation gets nothing', async () => {
  const { world, ask } = createWorld();
  world.isFenced = true;
  assert.deepEqual(await ask(5n), unavailable);
  assert.deepEqual(world.reported, ['fenced']);
});

test('all waiting calls can be refused', async () => {
  const { account, ask } = createWorld();
  const waiting = [ask(1n), ask(2n)];
  account.refuseAll();
  assert.deepEqual(await Promise.all(waiting), [unavailable, unavailable]);
  assert.equal(account.waiting, 0);
});

for (const [what, change, kept] of [
  ['another process wants it', { recalled: true }, [30n]],
  ['nothing limits it any more', { limited: false }, [30n]],
  ['the pot nears its end', { scarce: true }, [30n]],
  ['more is leased than there is', { remaining: -15n }, [85n]],
  ['much more is leased than there is', { remaining: -500n }, [30n]],
  ['there is enough', {}, []],
] as const)
  test(`a free amount is released at once, or not: ${what}`, async () => {
    const { world, account, pot, ask } = createWorld();
    await ask(100n);
    pot.release(70n);
    world.requests.length = 0;
    Object.assign(pot, change);
    await account.flush();
    assert.deepEqual(
      world.requests.flat().map(({ keep, need }) => [keep, need]),
      kept.map((keep) => [keep, 0n]),
    );
    assert.equal(pot.recalled, false);
  });

test('a free amount is not released while a call waits for its pot', async () => {
  const { world, pot, ask } = createWorld();
  await ask(100n);
  pot.release(70n);
  pot.scarce = true;
  world.requests.length = 0;
  assert.equal(await ask(80n), undefined);
  assert.deepEqual(wants(world.requests)[0], [[100n, 10n, false]]);
});

test('an idle pot is closed after a while and removed; one with a call is not', async () => {
  const { world, account, pot, ask } = createWorld();
  await ask(100n);
  pot.openHolds = 1;
  world.monotonicMs = 60_000;
  world.requests.length = 0;
  account.tick(60_000);
  await account.flush();
  assert.deepEqual(world.requests, []);
  pot.openHolds = 0;
  pot.release(100n);
  world.monotonicMs = 59_999;
  account.tick(60_000);
  await account.flush();
  assert.deepEqual(world.requests, []);
  world.monotonicMs = 60_000;
  world.answer = () => ({ version: 0 });
  account.tick(60_000);
  await account.flush();
  assert.deepEqual(wants(world.requests), [[[0n, 0n, true]]]);
  assert.deepEqual([pot.open, pot.removed, account.size], [false, false, 1]);
  account.tick(60_000);
  assert.deepEqual([pot.removed, account.size], [true, 0]);
});

test('the pot of a past day is closed as soon as no call has a hold of it', async () => {
  const { world, account, ask, potFor } = createWorld();
  const day = potFor(keyDay ?? assert.fail());
  await ask(10n, [day]);
  day.release(10n);
  world.requests.length = 0;
  world.nowMs = Date.UTC(2026, 10, 23) - 1;
  account.tick(60_000);
  await account.flush();
  assert.deepEqual(world.requests, []);
  world.nowMs += 1;
  account.tick(60_000);
  await account.flush();
  assert.deepEqual(wants(world.requests), [[[0n, 0n, true]]]);
});

test('one request has at most 64 pots', async () => {
  const { world, account, potFor } = createWorld();
  for (let count = 0; count < 65; count += 1) potFor(balancePot(`user-${count}`)).stale = true;
  await account.flush();
  assert.deepEqual(
    world.requests.map((requests) => requests.length),
    [64, 1],
  );
});
