import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createCreditDesk } from './create-credit-desk.ts';
import type { CreditHold, CreditRefusal } from './credit-desk.ts';
import type { LeaseReply, LeaseState, LeaseStore } from './credit-store.ts';
import { MemoryCreditStore } from './testing/memory-credit-store.ts';
import { LeasedPot } from './leased-pot.ts';
import { LeaseQueue } from './lease-queue.ts';
import { balancePot } from './pots.ts';
import { payerOf, settle } from './testing/simulated-nodes.ts';

const unavailable = { admitted: false, reason: 'unavailable' };
const ann = payerOf('ann', 'k', undefined, { prepaid: true });
type Change = LeaseStore['changeLeases'];

/** An open desk over an in-memory store whose lease replies the test can replace, and the log. */
async function openDesk() {
  const memory = new MemoryCreditStore();
  for (const userName of ['ann', 'bob']) {
    memory.setLimits(`user:${userName}`, { prepaid: true });
    memory.pay(userName, 1000n);
  }
  const world = {
    monotonicMs: 0,
    nowMs: Date.UTC(2026, 10, 22),
    requestCount: 0,
    log: [] as string[],
    change: memory.changeLeases.bind(memory),
  };
  const note = (facts: { err?: unknown }, text: string): void =>
    void world.log.push(facts.err instanceof Error ? `${text} ${facts.err.message}` : text);
  const store: LeaseStore = {
    openCreditNode: async (node) => await memory.openCreditNode(node),
    releaseCreditNode: async (node) => await memory.releaseCreditNode(node),
    readCreditSignals: async (node) => await memory.readCreditSignals(node),
    changeLeases: (node, requests) => {
      world.requestCount += 1;
      return world.change(node, requests);
    },
  };
  const desk = createCreditDesk({
    store,
    node: { nodeId: 'n', sessionId: 's' },
    clock: { nowMs: () => world.nowMs, monotonicMs: () => world.monotonicMs },
    logger: { info: note, warn: note, error: note } as Parameters<typeof createCreditDesk>[0]['logger'],
    ship: async () => {},
    storeTimeoutMs: 200,
  });
  await desk.tick();
  const hold = async (nanoUsd: bigint, payer = ann): Promise<CreditHold | CreditRefusal | undefined> =>
    await desk.hold(payer, nanoUsd, world.nowMs);
  const good = world.change;
  /** Changes the replies of the in-memory store before the desk receives them. */
  const garble = (change: (leases: readonly LeaseState[]) => unknown): void => {
    world.change = async (node, requests) => {
      const reply = await good(node, requests);
      assert.ok(reply.status === 'leased');
      return change(reply.leases) as LeaseReply;
    };
  };
  return { world, desk, hold, good, garble };
}

const nonsense: readonly (readonly [string, (leases: readonly LeaseState[]) => unknown])[] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['another word', (leases) => ({ status: 'busy', leases })],
  ['no leases', () => ({ status: 'leased' })],
  ['too few leases', () => ({ status: 'leased', leases: [] })],
  ['too many leases', (leases) => ({ status: 'leased', leases: [...leases, ...leases] })],
  ['a lease that is none', () => ({ status: 'leased', leases: [null] })],
  ['another pot', (leases) => ({ status: 'leased', leases: leases.map((lease) => ({ ...lease, potId: 'balance:eve' })) })],
  ...(['granted', 'remaining', 'leasedElsewhere', 'stranded', 'limit'] as const).map(
    (name) =>
      [
        `a number for ${name}`,
        (leases: readonly LeaseState[]) => ({ status: 'leased', leases: leases.map((each) => ({ ...each, [name]: 5 })) }),
      ] as const,
  ),
  ['a text for the version', (leases) => ({ status: 'leased', leases: leases.map((each) => ({ ...each, version: '1' })) })],
  ['no generation', (leases) => ({ status: 'leased', leases: leases.map((each) => ({ ...each, generation: undefined })) })],
];

for (const [what, change] of nonsense)
  test(`after an invalid reply of the store nobody waits, and correct replies are used again: ${what}`, async () => {
    const { world, desk, hold, good, garble } = await openDesk();
    garble(change);
    const answers = await Promise.all(Array.from({ length: 100 }, () => hold(5n)));
    assert.deepEqual(new Set(answers.map((each) => JSON.stringify(each))), new Set([JSON.stringify(unavailable)]));
    assert.equal(world.log.length, 1, world.log.join('\n'));
    assert.deepEqual([desk.figures().waiting, desk.figures().held], [0, 0n]);
    world.change = good;
    assert.equal((await hold(5n))?.admitted, true);
  });

test('a store that throws before it returns a promise leaves nobody waiting', async () => {
  const { world, hold, good } = await openDesk();
  world.change = () => {
    throw new Error('no connection');
  };
  assert.deepEqual(await Promise.all([hold(5n), hold(6n)]), [unavailable, unavailable]);
  assert.equal(world.log.length, 1);
  world.change = good;
  assert.equal((await hold(5n))?.admitted, true);
});

test('a store that has money but grants none is called a few times per tick, and nobody waits beyond the limit', async () => {
  const { world, desk, hold, garble } = await openDesk();
  garble((leases) => ({ status: 'leased', leases: leases.map((each) => ({ ...each, granted: 0n, remaining: 1000n })) }));
  const answer = hold(50n);
  await settle();
  assert.equal(world.requestCount, 8);
  world.monotonicMs = 4999;
  await desk.tick();
  await settle();
  assert.deepEqual([world.requestCount, desk.figures().waiting], [16, 1]);
  world.monotonicMs = 5000;
  void desk.tick();
  assert.deepEqual(await answer, unavailable);
});

test('a waiting call is answered in time while the store does not answer for another user', async () => {
  const { world, desk, hold, good, garble } = await openDesk();
  garble((leases) => ({
    status: 'leased',
    leases: leases.map((each) => ({ ...each, granted: 0n, remaining: 0n, leasedElsewhere: 1000n })),
  }));
  const contending = hold(50n);
  await settle();
  const { promise: never } = Promise.withResolvers<LeaseReply>();
  world.change = async (node, requests) =>
    requests.some(({ pot }) => pot.id === 'balance:bob') ? await never : await good(node, requests);
  const stuck = hold(5n, payerOf('bob', 'b', undefined, { prepaid: true }));
  await settle();
  // The sweep over all users waits for the store's reply about bob.
  world.monotonicMs = 10_000;
  const sweep = desk.tick();
  assert.deepEqual(await contending, unavailable);
  assert.equal(desk.figures().waiting, 0, 'bob is answered in time too');
  assert.deepEqual(await stuck, unavailable);
  // The call to the store ends after its own time limit.
  await sweep;
});

test('a call that waits when the desk closes is answered at once, even during a call to the store', async () => {
  const { world, desk, hold } = await openDesk();
  world.change = () => Promise.withResolvers<LeaseReply>().promise;
  const waiting = hold(5n);
  const closing = desk.close();
  assert.equal(desk.figures().waiting, 0);
  assert.deepEqual(await waiting, unavailable);
  await closing;
});

test('941 waiters: an invalid amount refuses the calls that wait with it, and later calls are served', async () => {
  const { world, desk, hold } = await openDesk();
  const odd = hold(0.5 as unknown as bigint);
  const others = Array.from({ length: 940 }, () => hold(1n));
  assert.deepEqual(await odd, unavailable);
  assert.ok((await Promise.all(others)).every((each) => each?.admitted === false && each.reason === 'unavailable'));
  assert.equal(world.log.length, 1, 'logged once');
  assert.deepEqual([desk.figures().waiting, desk.figures().held], [0, 0n]);
  assert.equal((await hold(5n))?.admitted, true);
});

/** An account that is granted what it needs, or whose store never answers, and the bugs that it reported. */
function createAccount(isAnswering = true) {
  const reported: unknown[] = [];
  const world = { monotonicMs: 0, reported, isLogBroken: false };
  const changeLeases: Change = async (_, requests) => {
    if (!isAnswering) await Promise.withResolvers<void>().promise;
    const limits = { limit: 1000n, remaining: 0n, leasedElsewhere: 0n, stranded: 0n, scarce: false };
    const leases = requests.map(({ pot, version, generation, keep, need }) => {
      return { potId: pot.id, version: version + 1, generation, granted: keep + need, ...limits };
    });
    return { status: 'leased', leases };
  };
  const fail = (error: unknown): void => {
    reported.push(error);
    if (world.isLogBroken) throw new Error('the disk of the log is full');
  };
  const account = new LeaseQueue({
    store: { changeLeases },
    node: { nodeId: 'n', sessionId: 's' },
    nowMs: () => 0,
    monotonicMs: () => world.monotonicMs,
    onEnded: () => {},
    storeTimeoutMs: 1000,
    waitMs: 5000,
    contendMs: 1500,
    waitersMax: 1000,
    onFenced: () => {},
    onStoreFailure: fail,
    onBug: fail,
  });
  const pot = new LeasedPot(balancePot('ann'), 'g', 0);
  account.add(pot);
  return { world, account, pots: [pot] };
}

const thrown = new Error('a callback throws');

for (const isLogBroken of [false, true])
  test(`a waiter whose callback throws is refused, and all others are served${isLogBroken ? ', even if the log fails' : ''}`, async () => {
    const { world, account, pots } = createAccount();
    world.isLogBroken = isLogBroken;
    const answers: (readonly [number, CreditRefusal | undefined])[] = [];
    for (let at = 0; at < 5; at += 1)
      account.wait(pots, 10n, (refusal) => {
        answers.push([at, refusal]);
        if (at === 1 && refusal === undefined) throw thrown;
        if (at === 3) throw thrown;
      });
    await account.flush();
    const refused = (at: number) => [at, unavailable];
    assert.deepEqual(answers, [[0, undefined], [1, undefined], refused(1), [2, undefined], [3, undefined], refused(3), [4, undefined]]);
    assert.deepEqual(world.reported, [thrown, thrown, thrown]);
    assert.equal(account.waiting, 0);
  });

for (const [what, end] of [
  ['all are refused', (account: LeaseQueue) => account.refuseAll()],
  ['their time is over', (account: LeaseQueue) => account.tick(60_000)],
] as const)
  test(`a callback that throws does not keep others from an answer: ${what}`, () => {
    const { world, account, pots } = createAccount(false);
    const reported: number[] = [];
    for (let at = 0; at < 3; at += 1)
      account.wait(pots, 10n, () => {
        reported.push(at);
        throw thrown;
      });
    world.monotonicMs = 5000;
    end(account);
    assert.deepEqual([reported, account.waiting], [[0, 1, 2], 0]);
  });

test('a lease that throws leaves nobody waiting, and the queue continues', async () => {
  const { world, account, pots } = createAccount();
  const [pot] = pots;
  assert.ok(pot !== undefined);
  const { promise, resolve } = Promise.withResolvers<CreditRefusal | undefined>();
  const apply = pot.apply.bind(pot);
  pot.apply = () => {
    throw thrown;
  };
  account.wait(pots, 10n, resolve);
  assert.deepEqual(await promise, unavailable);
  assert.deepEqual(world.reported, [thrown]);
  pot.apply = apply;
  const next = Promise.withResolvers<CreditRefusal | undefined>();
  account.wait(pots, 10n, next.resolve);
  assert.equal(await next.promise, undefined);
});
