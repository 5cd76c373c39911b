import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { type PendingEntry, Shipper, type ShipperOptions } from './shipper.ts';

const position = { segment: 1, offset: 0, length: 5 };
const form = (text: string) => ['', text] as const;
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A shipper with a test clock, a store that can fail, and the calls and logs of both. */
function createWorld(context: TestContext, more: Partial<ShipperOptions> = {}) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const world = {
    batches: [] as string[][],
    refuses: (texts: readonly string[]): boolean => texts.length === 0,
    shipped: [] as string[],
    lost: [] as string[],
  };
  const log: string[] = [];
  const shipper = new Shipper({
    store: {
      appendEncoded: async (entries) => {
        const texts = entries.map((bytes) => Buffer.from(bytes).toString());
        world.batches.push(texts);
        if (world.refuses(texts)) throw new Error('refused');
        return texts.length;
      },
    },
    logger: {
      warn: ({ failures }: { failures: number }, text: string) => void log.push(`${failures} ${text}`),
      error: ({ callId }: { callId: string }, text: string) => void log.push(`${callId} ${text}`),
    } as ShipperOptions['logger'],
    shipIntervalMs: 50,
    batchEntriesMax: 4,
    entriesInMemoryMax: 3,
    storeTimeoutMs: 30_000,
    backoffMs: { first: 100, last: 500 },
    readEntry: () => Buffer.from('read'),
    onShipped: (items) => void world.shipped.push(...items.map(({ callId }) => callId)),
    onUnreadable: ({ callId }) => void world.lost.push(callId),
    ...more,
  });
  context.after(() => shipper.stop());
  const add = (callId: string, at: PendingEntry['position'] = position): PendingEntry => {
    const item: PendingEntry = { callId, position: at, segment: 1 };
    shipper.add(item, form(callId));
    return item;
  };
  /** Advances the time, and returns the batches that the store received. */
  const pass = async (ms: number): Promise<readonly string[][]> => {
    context.mock.timers.tick(ms);
    await turns();
    return world.batches.splice(0);
  };
  return { world, shipper, log, add, pass };
}

test('entries are shipped together after the interval, in batches, until less than a batch remains', async (context) => {
  const { world, shipper, add, pass } = createWorld(context, { entriesInMemoryMax: 100 });
  for (const id of ['a', 'b', 'c', 'd', 'e']) add(id);
  assert.deepEqual(await pass(49), []);
  assert.deepEqual([...shipper.pending()].length, 5);
  assert.deepEqual(await pass(1), [['a', 'b', 'c', 'd']]);
  assert.deepEqual(await pass(50), [['e']]);
  assert.deepEqual([world.shipped, shipper.size], [['a', 'b', 'c', 'd', 'e'], 0]);
  assert.deepEqual(await pass(1000), []);
});

test('while entries keep arriving, the shipper waits some intervals for a full batch', async (context) => {
  const { shipper, add, pass } = createWorld(context, { shipIntervalsMax: 3, batchEntriesMax: 8, entriesInMemoryMax: 100 });
  const addAll = (ids: string): void => {
    for (const id of ids) add(id);
  };
  addAll('abcd');
  assert.deepEqual(await pass(50), [['a', 'b', 'c', 'd']], 'a few entries are shipped after one interval');
  addAll('abcde');
  for (const ms of [50, 50, 49]) assert.deepEqual(await pass(ms), []);
  assert.deepEqual(await pass(1), [['a', 'b', 'c', 'd', 'e']], 'they are shipped after the last interval');
  addAll('abcde');
  assert.deepEqual(await pass(50), []);
  addAll('fgh');
  assert.deepEqual(await pass(50), [['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']], 'a full batch is not delayed');
  addAll('abcde');
  assert.deepEqual(await pass(50), []);
  await shipper.drain(new AbortController().signal);
  assert.equal(shipper.size, 0, 'a drain ships at once');
  assert.deepEqual((await pass(1000)).flat().join(''), 'abcde');
});

test('entries beyond the memory limit are read back from the journal, and one that is only in memory stays there', async (context) => {
  const { add, shipper, pass } = createWorld(context, { batchEntriesMax: 10 });
  const items = ['a', 'b', 'c', 'd'].map((id) => add(id));
  shipper.add({ callId: 'e', position: undefined, segment: 1 }, form('e'));
  assert.equal(items[3]?.entry, undefined);
  assert.deepEqual(shipper.find((id) => id === 'd' || id === 'a').map(String), ['a', 'read']);
  assert.deepEqual(await pass(50), [['a', 'b', 'c', 'read', 'e']]);
  assert.equal(items[0]?.entry, undefined);
  for (const id of ['f', 'g', 'h']) assert.ok(add(id).entry !== undefined, 'released memory is available again');
});

test('an entry whose journal copy is lost is kept in memory again, unless it is in the store', async (context) => {
  const { add, shipper, pass } = createWorld(context, { entriesInMemoryMax: 0 });
  const [waiting, shipped] = [add('a'), add('b')];
  shipper.restore(waiting, form('again'));
  assert.deepEqual(await pass(50), [['again', 'read']]);
  shipper.restore(shipped, form('again'));
  assert.deepEqual([shipped.position, shipped.entry], [undefined, undefined]);
});

test('a failing store is retried after pauses that double up to the longest, and logged at each doubling', async (context) => {
  const { world, log, add, pass } = createWorld(context);
  world.refuses = () => true;
  add('a');
  assert.equal((await pass(50)).length, 1);
  for (const wait of [100, 200, 400, 500, 500]) {
    assert.deepEqual(await pass(wait - 1), []);
    assert.deepEqual(await pass(1), [['a']]);
  }
  world.refuses = () => false;
  await pass(500);
  const words = 'journal shipping failed';
  assert.deepEqual(log, [`1 ${words}`, `2 ${words}`, `4 ${words}`, '6 journal shipping recovered']);
  assert.deepEqual(world.shipped, ['a']);
});

test('an entry that the store cannot accept is found by halving, and moved behind the others', async (context) => {
  const { world, add, pass } = createWorld(context, { entriesInMemoryMax: 100 });
  world.refuses = (texts) => texts.includes('bad');
  for (const id of ['bad', 'b', 'c', 'd']) add(id);
  const batches = [...(await pass(50)), ...(await pass(100)), ...(await pass(200)), ...(await pass(400))];
  assert.deepEqual(batches.slice(0, 4), [['bad', 'b', 'c', 'd'], ['bad', 'b'], ['bad'], ['b']]);
  assert.deepEqual(world.shipped, ['b', 'c', 'd']);
});

test('an entry that cannot be read back is retried five times, then dropped and reported', async (context) => {
  const failing = () => {
    throw new Error('no record');
  };
  const { world, shipper, log, add, pass } = createWorld(context, { entriesInMemoryMax: 0, readEntry: failing });
  add('a');
  assert.deepEqual(
    shipper.find(() => true),
    [],
  );
  await pass(50);
  for (let attempt = 2; attempt <= 4; attempt += 1) await pass(100);
  assert.deepEqual([shipper.size, world.lost], [1, []]);
  await pass(100);
  assert.deepEqual([shipper.size, world.lost, log], [0, ['a'], ['a journal entry could not be read back']]);
});

test('a drain ships at once, waits for what was pending when it began, and ends with its signal', async (context) => {
  const { world, shipper, add } = createWorld(context);
  await shipper.drain(new AbortController().signal);
  add('a');
  await shipper.drain(new AbortController().signal);
  assert.deepEqual(world.shipped, ['a']);
  world.refuses = () => true;
  add('b');
  const disconnected = new AbortController();
  const draining = shipper.drain(disconnected.signal);
  disconnected.abort(new Error('disconnected'));
  await assert.rejects(draining, /disconnected/);
  await assert.rejects(shipper.drain(disconnected.signal), /disconnected/);
});

test('a store that does not answer within its limit counts as failed', async (context) => {
  const { shipper, log, add, pass } = createWorld(context, {
    store: { appendEncoded: () => new Promise<never>(() => {}) },
    storeTimeoutMs: 300,
  });
  add('a');
  await pass(50);
  await pass(299);
  assert.deepEqual(log, []);
  await pass(1);
  assert.deepEqual([log, shipper.size], [['1 journal shipping failed'], 1]);
});

test('nothing is shipped after a stop', async (context) => {
  const { shipper, add, pass } = createWorld(context);
  add('a');
  await shipper.stop();
  add('b');
  assert.deepEqual(await pass(1000), []);
  assert.equal(shipper.size, 2);
});
