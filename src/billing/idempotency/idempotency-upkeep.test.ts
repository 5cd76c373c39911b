import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { silentLogger } from '../../platform/log.ts';
import { startKeyUpkeep } from './idempotency-upkeep.ts';
import { ReplyBudget } from './reply-budget.ts';

const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** Maintenance with a lease of 30 seconds, which runs every five, and the calls to the store. */
function createWorld(context: TestContext, swept: (pass: number) => number = () => 0) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const world = { monotonicMs: 0, calls: [] as unknown[], warnings: 0, work: undefined as Promise<void> | undefined };
  const upkeep = startKeyUpkeep({
    store: {
      renewIdempotencyKeys: async (lease) => {
        world.calls.push(lease);
        await world.work;
      },
      sweepIdempotencyKeys: async (pass) => {
        world.calls.push(pass);
        return swept(world.calls.length);
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
  /** Advances the time in steps of five seconds, and returns the calls to the store. */
  const pass = async (seconds: number): Promise<readonly unknown[]> => {
    // The work of the start finishes first.
    await turn();
    for (let each = 0; each < seconds; each += 5) {
      world.monotonicMs += 5000;
      context.mock.timers.tick(5000);
      await turn();
    }
    return world.calls.splice(0);
  };
  return { world, upkeep, pass };
}

const sweepAt = (second: number) => ({ nowMs: 1_000_000 + second * 1000, rowsMax: 200 });
const renewalAt = (second: number) => ({ owner: 'me', untilMs: 1_030_000 + second * 1000 });

test('expired keys are deleted after half a minute and every minute from then on', async (context) => {
  const { pass } = createWorld(context);
  assert.deepEqual(await pass(25), []);
  assert.deepEqual(await pass(5), [sweepAt(30)]);
  assert.deepEqual(await pass(55), []);
  assert.deepEqual(await pass(5), [sweepAt(90)]);
});

test('passes repeat until one deletes fewer rows, at most fifty times', async (context) => {
  const short = createWorld(context, (pass) => (pass < 3 ? 200 : 199));
  assert.equal((await short.pass(30)).length, 3);
  context.mock.timers.reset();
  const endless = createWorld(context, () => 200);
  assert.equal((await endless.pass(30)).length, 50);
});

test('a process renews its lease every sixth of its duration, as long as it holds a key', async (context) => {
  const { upkeep, pass } = createWorld(context);
  upkeep.keyClaimed();
  upkeep.keyClaimed();
  upkeep.keyReleased();
  assert.deepEqual(await pass(10), [renewalAt(5), renewalAt(10)]);
  upkeep.keyReleased();
  assert.deepEqual(await pass(10), []);
});

test('renewals do not overlap, and closing waits for the running one', async (context) => {
  const { world, upkeep, pass } = createWorld(context);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.work = promise;
  upkeep.keyClaimed();
  assert.equal((await pass(20)).length, 1);
  let isClosed = false;
  const closing = upkeep.close().then(() => (isClosed = true));
  await turn();
  assert.equal(isClosed, false);
  resolve();
  await closing;
  assert.deepEqual(await pass(60), []);
});

test('writes that the store did not accept are repeated in order until it does, at most ten thousand', async (context) => {
  const { world, upkeep, pass } = createWorld(context);
  const written: number[] = [];
  let refusals = 2;
  for (let number = 0; number < 10_001; number += 1)
    upkeep.retryLater(async () => {
      if (number === 1 && refusals > 0) {
        refusals -= 1;
        throw new Error('not now');
      }
      written.push(number);
    });
  await pass(5);
  assert.deepEqual([written, world.warnings], [[0], 1]);
  await pass(5);
  const others = Array.from({ length: 9998 }, (_, index) => index + 2);
  assert.deepEqual([written, world.warnings], [[0, ...others], 2]);
  await pass(5);
  assert.deepEqual(written, [0, ...others, 1]);
});

test('a write that the store never accepts does not block other work', async (context) => {
  const { world, upkeep, pass } = createWorld(context);
  let written = 0;
  upkeep.retryLater(() => Promise.reject(new Error('never')));
  upkeep.retryLater(() => Promise.resolve((written += 1)));
  assert.deepEqual(await pass(30), [sweepAt(30)]);
  assert.deepEqual([written, world.warnings], [1, 6]);
});
