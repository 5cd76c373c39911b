import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { silentLogger } from '../../platform/log.ts';
import { startKeyUpkeep } from './idempotency-upkeep.ts';
import { ReplyBudget } from './reply-budget.ts';

const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** An upkeep with a lease of 30 seconds, which is looked after every five, and what the store was asked for. */
function createWorld(context: TestContext, swept: (pass: number) => number = () => 0) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const world = { monotonicMs: 0, asked: [] as unknown[], warnings: 0, work: undefined as Promise<void> | undefined };
  const upkeep = startKeyUpkeep({
    store: {
      renewIdempotencyKeys: async (lease) => {
        world.asked.push(lease);
        await world.work;
      },
      sweepIdempotencyKeys: async (pass) => {
        world.asked.push(pass);
        return swept(world.asked.length);
      },
      endIdempotencyLeases: () => Promise.resolve(),
      measureReplies: () => Promise.resolve([]),
    },
    clock: { nowMs: () => 1_000_000 + world.monotonicMs, monotonicMs: () => world.monotonicMs },
    logger: { ...silentLogger, warn: () => void (world.warnings += 1) },
    owner: 'me',
    deadPrefix: undefined,
    budget: new ReplyBudget(() => ({ totalBytesMax: 0, apiKeyBytesMax: 0 })),
    leaseMs: 30_000,
  });
  context.after(() => upkeep.close());
  /** Lets time pass in steps of five seconds, and returns what was asked meanwhile. */
  const pass = async (seconds: number): Promise<readonly unknown[]> => {
    // What is done at the start is over first.
    await turn();
    for (let each = 0; each < seconds; each += 5) {
      world.monotonicMs += 5000;
      context.mock.timers.tick(5000);
      await turn();
    }
    return world.asked.splice(0);
  };
  return { world, upkeep, pass };
}

const sweepAt = (second: number) => ({ nowMs: 1_000_000 + second * 1000, rowsMax: 200 });
const renewalAt = (second: number) => ({ owner: 'me', untilMs: 1_030_000 + second * 1000 });

test('what is over is deleted after half a minute and every minute from then on', async (context) => {
  const { pass } = createWorld(context);
  assert.deepEqual(await pass(25), []);
  assert.deepEqual(await pass(5), [sweepAt(30)]);
  assert.deepEqual(await pass(55), []);
  assert.deepEqual(await pass(5), [sweepAt(90)]);
});

test('there is pass after pass until one comes back with less, and fifty at most', async (context) => {
  const short = createWorld(context, (pass) => (pass < 3 ? 200 : 199));
  assert.equal((await short.pass(30)).length, 3);
  context.mock.timers.reset();
  const endless = createWorld(context, () => 200);
  assert.equal((await endless.pass(30)).length, 50);
});

test('a process says that it lives every sixth of a lease, as long as it holds a key', async (context) => {
  const { upkeep, pass } = createWorld(context);
  upkeep.took();
  upkeep.took();
  upkeep.gaveBack();
  assert.deepEqual(await pass(10), [renewalAt(5), renewalAt(10)]);
  upkeep.gaveBack();
  assert.deepEqual(await pass(10), []);
});

test('it does not say so twice at a time, and ends with what it has begun', async (context) => {
  const { world, upkeep, pass } = createWorld(context);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.work = promise;
  upkeep.took();
  assert.equal((await pass(20)).length, 1);
  let isClosed = false;
  const closing = upkeep.close().then(() => (isClosed = true));
  await turn();
  assert.equal(isClosed, false);
  resolve();
  await closing;
  assert.deepEqual(await pass(60), []);
});

test('what the store did not take is told in its order, each until it is taken, and no more than ten thousand', async (context) => {
  const { world, upkeep, pass } = createWorld(context);
  const told: number[] = [];
  let refusals = 2;
  for (let number = 0; number < 10_001; number += 1)
    upkeep.tellLater(async () => {
      if (number === 1 && refusals > 0) {
        refusals -= 1;
        throw new Error('not now');
      }
      told.push(number);
    });
  await pass(5);
  assert.deepEqual([told, world.warnings], [[0], 1]);
  await pass(5);
  const others = Array.from({ length: 9998 }, (_, index) => index + 2);
  assert.deepEqual([told, world.warnings], [[0, ...others], 2]);
  await pass(5);
  assert.deepEqual(told, [0, ...others, 1]);
});

test('what the store never takes keeps nothing else from being done', async (context) => {
  const { world, upkeep, pass } = createWorld(context);
  let told = 0;
  upkeep.tellLater(() => Promise.reject(new Error('never')));
  upkeep.tellLater(() => Promise.resolve((told += 1)));
  assert.deepEqual(await pass(30), [sweepAt(30)]);
  assert.deepEqual([told, world.warnings], [1, 6]);
});
