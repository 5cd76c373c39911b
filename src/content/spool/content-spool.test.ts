import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { createSealer } from '../../platform/seal/sealer.ts';
import { ContentSpool } from './content-spool.ts';

function setUp(context: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'weir-spool-'));
  context.after(() => rmSync(parent, { recursive: true, force: true }));
  const directory = join(parent, 'own');
  let nowMs = 1000;
  const open = (key = 1, bytesMax = 100_000) =>
    ContentSpool.open({
      directory,
      sealer: createSealer(Buffer.alloc(32, key)),
      clock: { nowMs: () => (nowMs += 1) },
      bytesMax: () => bytesMax,
    });
  return { parent, directory, open };
}

const texts = async (spool: ContentSpool): Promise<readonly string[]> => {
  const batches = await spool.batches();
  return (await Promise.all(batches.map(({ number }) => spool.read(number)))).flatMap(({ records }) => records.map(String));
};

test('accepted records survive without an end, sealed, in order, also those that were added at once', async (context) => {
  const { directory, open } = setUp(context);
  const spool = await open();
  const words = Array.from({ length: 50 }, (_, index) => `record-${index}`);
  assert.deepEqual(new Set(await Promise.all(words.map((word) => spool.append(Buffer.from(word))))), new Set(['kept']));
  assert.deepEqual(await spool.batches(), [], 'the present batch is not complete');
  const again = await open();
  assert.deepEqual(await texts(again), words);
  assert.equal(again.bytes, spool.bytes);
  for (const name of readdirSync(directory)) assert.ok(!readFileSync(join(directory, name), 'latin1').includes('record-1'));
  await spool.close();
});

test('a batch is never listed while it is written, also at its very beginning', async (context) => {
  const { open } = setUp(context);
  const spool = await open();
  for (let number = 0; number < 20; number++) {
    const complete = await spool.batches();
    const adding = { isOver: false };
    const added = spool.append(Buffer.from(`record-${number}`)).finally(() => (adding.isOver = true));
    while (!adding.isOver) assert.deepEqual(await spool.batches(), complete);
    await added;
    await spool.completeBatch();
  }
  assert.equal((await spool.batches()).length, 20);
});

test('a record that a crash has cut is ignored, wherever it was cut, and those before it stay', async (context) => {
  const { directory, open } = setUp(context);
  const spool = await open();
  await spool.append(Buffer.from('first'));
  const whole = readFileSync(join(directory, readdirSync(directory)[0] ?? ''));
  await spool.append(Buffer.from('second'));
  await spool.close();
  const path = join(directory, readdirSync(directory)[0] ?? '');
  const size = readFileSync(path).length;
  for (let length = size - 1; length >= whole.length; length -= 7) {
    truncateSync(path, length);
    assert.deepEqual(await texts(await open()), ['first']);
  }
});

test('damage and another key are counted, and the other records are read', async (context) => {
  const { directory, open } = setUp(context);
  const spool = await open();
  await spool.append(Buffer.from('first'));
  await spool.append(Buffer.from('second'));
  await spool.close();
  const path = join(directory, readdirSync(directory)[0] ?? '');
  const bytes = readFileSync(path);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const [batch] = await spool.batches();
  const read = await spool.read(batch?.number ?? 0);
  assert.deepEqual([read.damaged, read.records.map(String)], [1, ['second']]);
  assert.equal((await (await open(2)).read(batch?.number ?? 0)).damaged, 2);
});

test('a full spool keeps no more, and has room again when a batch was removed', async (context) => {
  const { open } = setUp(context);
  const spool = await open(1, 400);
  assert.equal(await spool.append(Buffer.alloc(200)), 'kept');
  assert.equal(await spool.append(Buffer.alloc(200)), 'full');
  await spool.completeBatch();
  const [batch] = await spool.batches();
  assert.ok(batch !== undefined);
  await spool.noteSent(batch.number, 'one');
  assert.deepEqual(await spool.sentTo(batch.number), ['one']);
  await spool.remove(batch);
  assert.deepEqual([spool.bytes, await spool.batches(), await spool.sentTo(batch.number)], [0, [], []]);
  assert.equal(await spool.append(Buffer.alloc(200)), 'kept');
  await spool.close();
});

test('batches of a process that is gone go to one of two that take them over', async (context) => {
  const { parent, open } = setUp(context);
  const left = await open();
  await left.append(Buffer.from('left'));
  await left.close();
  const own = async (name: string) => {
    mkdirSync(join(parent, name));
    const options = { sealer: createSealer(Buffer.alloc(32, 1)), clock: { nowMs: () => 5 }, bytesMax: () => 1000 };
    return await ContentSpool.open({ ...options, directory: join(parent, name) });
  };
  const spools = [await own('a'), await own('b')];
  const counts = await Promise.all(spools.map((spool) => spool.adopt(join(parent, 'own'))));
  assert.deepEqual(new Set(counts), new Set([0, 1]));
  assert.deepEqual((await Promise.all(spools.map(texts))).flat(), ['left']);
});

test('another file in the directory changes nothing', async (context) => {
  const { directory, open } = setUp(context);
  const spool = await open();
  appendFileSync(join(directory, 'notes.txt'), 'x');
  await spool.append(Buffer.from('a'));
  await spool.close();
  assert.deepEqual(await texts(spool), ['a']);
});
