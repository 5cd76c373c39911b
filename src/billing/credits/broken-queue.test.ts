import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createCreditDesk } from './create-credit-desk.ts';
import type { CreditHold, CreditRefusal } from './credit-desk.ts';
import type { LeaseReply, LeaseState, LeaseStore } from './credit-store.ts';
import { MemoryCreditStore } from './testing/memory-credit-store.ts';
import { PayerAccount } from './payer-account.ts';
import { balancePot } from './pots.ts';
import { payerOf, settle } from './testing/simulated-nodes.ts';

const unavailable = { admitted: false, reason: 'unavailable' };
const ann = payerOf('ann', 'k', undefined, { prepaid: true });
type Change = LeaseStore['changeLeases'];

/** An open desk over a store in memory whose answers about leases the test may replace, and what was logged. */
async function openDesk() {
  const memory = new MemoryCreditStore();
  for (const userName of ['ann', 'bob']) {
    memory.setLimits(`user:${userName}`, { prepaid: true });
    memory.pay(userName, 1000n);
  }
  const world = {
    monotonicMs: 0,
    nowMs: Date.UTC(2026, 10, 22),
    asked: 0,
    log: [] as string[],
    change: memory.changeLeases.bind(memory),
  };
  const note = (facts: { err?: unknown }, text: string): void =>
    void world.log.push(facts.err instanceof Error ? `${text} ${facts.err.message}` : text);
  const store: LeaseStore = {
    openCreditNode: async (life) => await memory.openCreditNode(life),
    releaseCreditNode: async (life) => await memory.releaseCreditNode(life),
    readCreditSignals: async (life) => await memory.readCreditSignals(life),
    changeLeases: (life, requests) => {
      world.asked += 1;
      return world.change(life, requests);
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
  /** Has the answers that the store in memory gives changed on their way. */
  const garble = (change: (leases: readonly LeaseState[]) => unknown): void => {
    world.change = async (life, requests) => {
      const reply = await good(life, requests);
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
  test(`a store that answers nonsense leaves nobody waiting, and serves again when it is well: ${what}`, async () => {
    const { world, desk, hold, good, garble } = await openDesk();
    garble(change);
    const answers = await Promise.all(Array.from({ length: 100 }, () => hold(5n)));
    assert.deepEqual(new Set(answers.map((each) => JSON.stringify(each))), new Set([JSON.stringify(unavailable)]));
    assert.equal(world.log.length, 1, world.log.join('\n'));
    assert.deepEqual([desk.figures().waiting, desk.figures().held], [0, 0n]);
    world.change = good;
    assert.equal((await hold(5n))?.admitted, true);
  });

test('a store that throws before it promises anything leaves nobody waiting', async () => {
  const { world, hold, good } = await openDesk();
  world.change = () => {
    throw new Error('no connection');
  };
  assert.deepEqual(await Promise.all([hold(5n), hold(6n)]), [unavailable, unavailable]);
  assert.equal(world.log.length, 1);
  world.change = good;
  assert.equal((await hold(5n))?.admitted, true);
});

test('a store that says it has the money and grants none is asked a few times per tick, and nobody waits for longer than is said', async () => {
  const { world, desk, hold, garble } = await openDesk();
  garble((leases) => ({ status: 'leased', leases: leases.map((each) => ({ ...each, granted: 0n, remaining: 1000n })) }));
  const answer = hold(50n);
  await settle();
  assert.equal(world.asked, 8);
  world.monotonicMs = 4999;
  await desk.tick();
  await settle();
  assert.deepEqual([world.asked, desk.figures().waiting], [16, 1]);
  world.monotonicMs = 5000;
  void desk.tick();
  assert.deepEqual(await answer, unavailable);
});

test('who waits is answered in time while the store keeps the desk waiting for somebody else', async () => {
  const { world, desk, hold, good, garble } = await openDesk();
  garble((leases) => ({
    status: 'leased',
    leases: leases.map((each) => ({ ...each, granted: 0n, remaining: 0n, leasedElsewhere: 1000n })),
  }));
  const contending = hold(50n);
  await settle();
  const { promise: never } = Promise.withResolvers<LeaseReply>();
  world.change = async (life, requests) => (life.userName === 'bob' ? await never : await good(life, requests));
  const stuck = hold(5n, payerOf('bob', 'b', undefined, { prepaid: true }));
  await settle();
  // The sweep over all users waits for the store's word about bob.
  world.monotonicMs = 10_000;
  const sweep = desk.tick();
  assert.deepEqual(await contending, unavailable);
  assert.equal(desk.figures().waiting, 0, 'bob is told in time too');
  assert.deepEqual(await stuck, unavailable);
  // The store is given up after its own limit.
  await sweep;
});

test('who waits when the desk closes is told at once, whatever the store is being asked', async () => {
  const { world, desk, hold } = await openDesk();
  world.change = () => Promise.withResolvers<LeaseReply>().promise;
  const waiting = hold(5n);
  const closing = desk.close();
  assert.equal(desk.figures().waiting, 0);
  assert.deepEqual(await waiting, unavailable);
  await closing;
});

test('941 waiters: an amount that cannot be reckoned with costs those who wait with it an answer, and not for good', async () => {
  const { world, desk, hold } = await openDesk();
  const odd = hold(0.5 as unknown as bigint);
  const others = Array.from({ length: 940 }, () => hold(1n));
  assert.deepEqual(await odd, unavailable);
  assert.ok((await Promise.all(others)).every((each) => each?.admitted === false && each.reason === 'unavailable'));
  assert.equal(world.log.length, 1, 'told once');
  assert.deepEqual([desk.figures().waiting, desk.figures().held], [0, 0n]);
  assert.equal((await hold(5n))?.admitted, true);
});

/** An account that is granted what it needs, or waits for a store that never answers, and the defects that it told of. */
function createAccount(isAnswering = true) {
  const told: unknown[] = [];
  const world = { monotonicMs: 0, told, isLogBroken: false };
  const changeLeases: Change = async (_, requests) => {
    if (!isAnswering) await Promise.withResolvers<void>().promise;
    const standing = { limit: 1000n, remaining: 0n, leasedElsewhere: 0n, stranded: 0n, scarce: false };
    const leases = requests.map(({ pot, version, generation, keep, need }) => {
      return { potId: pot.id, version: version + 1, generation, granted: keep + need, ...standing };
    });
    return { status: 'leased', leases };
  };
  const fail = (error: unknown): void => {
    told.push(error);
    if (world.isLogBroken) throw new Error('the disk of the log is full');
  };
  const account = new PayerAccount('ann', {
    store: { changeLeases },
    node: { nodeId: 'n', sessionId: 's' },
    nowMs: () => 0,
    monotonicMs: () => world.monotonicMs,
    newGeneration: () => 'g',
    storeTimeoutMs: 1000,
    waitMs: 5000,
    contendMs: 1500,
    waitersMax: 1000,
    onFenced: () => {},
    onStoreFailure: fail,
    onDefect: fail,
  });
  return { world, account, pots: [account.potFor(balancePot('ann'))] };
}

const thrown = new Error('a callback throws');

for (const isLogBroken of [false, true])
  test(`a waiter whose callback throws is refused, and all others are served${isLogBroken ? ', also where it cannot be logged' : ''}`, async () => {
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
    assert.deepEqual(world.told, [thrown, thrown, thrown]);
    assert.equal(account.waiting, 0);
  });

for (const [what, end] of [
  ['all are refused', (account: PayerAccount) => account.refuseAll()],
  ['their time is over', (account: PayerAccount) => account.tick(60_000)],
] as const)
  test(`a callback that throws keeps nobody else from being told: ${what}`, () => {
    const { world, account, pots } = createAccount(false);
    const told: number[] = [];
    for (let at = 0; at < 3; at += 1)
      account.wait(pots, 10n, () => {
        told.push(at);
        throw thrown;
      });
    world.monotonicMs = 5000;
    end(account);
    assert.deepEqual([told, account.waiting], [[0, 1, 2], 0]);
  });

test('a lease that throws when it is asked leaves nobody waiting, and the account goes on', async () => {
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
  assert.deepEqual(world.told, [thrown]);
  pot.apply = apply;
  const next = Promise.withResolvers<CreditRefusal | undefined>();
  account.wait(pots, 10n, next.resolve);
  assert.equal(await next.promise, undefined);
});
