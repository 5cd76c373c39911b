import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createYieldQueue, WorkSlices } from '../../yield-queue.ts';
import { indexJson, indexJsonInSlices } from '../index-json.ts';
import { jsonKind } from '../json-index.ts';
import { JsonProblemError, jsonPartBytesMax, jsonSpaceBytesMax } from '../scan-json.ts';
import { ScannerInstance } from './scanner-module.ts';
import { compareScanners, scanInWindows, TextMaker } from './testing/compare-scanners.ts';

const windows = [undefined, 1, 7, 16, 64, 1000];

test('both scanners accept the same texts and make the same nodes, in windows of any size', () => {
  const maker = new TextMaker(1);
  let accepted = 0;
  const cases = 4000;
  for (let number = 0; number < cases; number++) {
    const { bytes, limits, windowBytes } = maker.next();
    if (compareScanners(bytes, limits, windowBytes)) accepted++;
  }
  assert.ok(accepted > cases / 4, String(accepted));
});

test('a text that is cut anywhere is refused, in windows of any size', () => {
  const whole = Buffer.from('{"a":[1.5e+3,-0,true,{"b":null}],"c\\u0041\\n":"xé\\ud83d\\ude00\\\\","d":"0123456789abcdef😀"}');
  for (const windowBytes of windows) {
    for (let end = 0; end < whole.length; end++) assert.ok(!compareScanners(whole.subarray(0, end), {}, windowBytes));
    assert.ok(compareScanners(whole, {}, windowBytes));
  }
});

test('quotes, escapes and characters of several bytes are found at every distance', () => {
  for (const special of [
    '"',
    '\\"',
    '\\\\',
    '\\u00e9',
    '\\u00g9',
    '\\x',
    '\n',
    '\0',
    'é',
    '😀',
    '\\\\\\\\"',
    '\\'.repeat(64),
    '\\'.repeat(127),
  ]) {
    for (let before = 0; before < 140; before++) compareScanners(Buffer.from(`["${'x'.repeat(before)}${special}yz"]`), {}, undefined);
  }
});

test('each limit holds exactly', () => {
  const key = (length: number) => `{"${'k'.repeat(length)}":1}`;
  const digits = (length: number) => `[${'1'.repeat(length)}]`;
  const fraction = (length: number) => `[${'1'.repeat(length)}.${'2'.repeat(length)}e-${'3'.repeat(length)}]`;
  const space = (length: number) => `[1${' '.repeat(length)},2]`;
  const shape = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  for (const windowBytes of [undefined, 1000, 65_536]) {
    for (const more of [0, 1]) {
      for (const make of [key, digits, fraction])
        assert.equal(compareScanners(Buffer.from(make(jsonPartBytesMax + more)), {}, windowBytes), more === 0);
      assert.equal(compareScanners(Buffer.from(space(jsonSpaceBytesMax - 1 + more)), {}, windowBytes), more === 0);
      assert.equal(compareScanners(Buffer.from(shape(64 + more)), {}, windowBytes), more === 0);
      assert.equal(compareScanners(Buffer.from('[1,{"a":2}]'), { tokensMax: 5 - more }, windowBytes), more === 0);
    }
  }
});

test('a text that is refused after its keys made the memory larger does not spoil the scanner for the next text', () => {
  // The memory of a scanner stays as large as it has become, so each text needs more of it than those before.
  for (const count of [500, 1000, 2000, 4000]) {
    const keys = Array.from({ length: count }, (_, at) => `"${at}":0`);
    assert.ok(!compareScanners(Buffer.from(`{${keys.join(',')},!`), {}, undefined));
    assert.ok(compareScanners(Buffer.from('{"next":[1]}'), {}, undefined));
  }
});

test('a text of a few bytes at the end of its memory is refused as any other', () => {
  for (let length = 1; length <= 4; length += 1) {
    const bytes = Buffer.from(new ArrayBuffer(13 + length), 13, length).fill('[');
    assert.throws(() => indexJson(bytes), JsonProblemError);
  }
});

test('a scanner that threw is not used for the next text', () => {
  const spoilt = ScannerInstance.take();
  spoilt.bytes = new Uint8Array(0);
  spoilt.release();
  assert.throws(() => indexJson(Buffer.from('[1]')), RangeError);
  assert.equal(indexJson(Buffer.from('[1]')).count, 2);
});

test('a key that occurs twice is found among any number of keys, in any spelling', () => {
  for (const count of [1, 2, 15, 16, 31, 32, 33, 34, 600, 1500, 40_000]) {
    const keys = Array.from({ length: count }, (_, at) => `"key ${at}":{"key ${at % 7}":0}`);
    for (const windowBytes of count < 2000 ? windows : [undefined]) {
      assert.ok(scanInWindows(Buffer.from(`{${keys.join(',')},"x":1}`), {}, windowBytes), `${count} ${windowBytes}`);
      for (const again of ['key 0', '\\u006bey 0', `key ${count - 1}`, `k\\u0065y ${count >> 1}`])
        assert.equal(scanInWindows(Buffer.from(`{${keys.join(',')},"${again}":1}`), {}, windowBytes), undefined, again);
    }
  }
  for (const text of [
    '{"\\ud83d\\ude00":1,"😀":2}',
    '{"\\ud800":1,"\\uD800":2}',
    '{"é":1,"\\u00E9":2}',
    '{"\\n":1,"\\u000a":2}',
    '{"/":1,"\\/":2}',
  ])
    assert.ok(!compareScanners(Buffer.from(text), {}, undefined), text);
  for (const text of [
    '{"\\ud800":1,"\\ud801":2,"\ufffd":3}',
    '{"\\ud83d":1,"\\ude00":2}',
    '{"a":{"b":1},"b":{"a":{"a":1}}}',
    '{"\\u0000":1,"":2,"\\u0000\\u0000":3}',
  ])
    assert.ok(compareScanners(Buffer.from(text), {}, undefined), text);
});

test('a text with more nodes than a window holds, and containers that stay open, has all nodes', () => {
  const inner = JSON.stringify(Array.from({ length: 3000 }, (_, at) => ({ at, list: [at, 'text', null, {}] })));
  const text = Buffer.from(`{"first":[[${inner},${inner}]],"last":{"a":[${inner}]}}`);
  for (const windowBytes of [undefined, 5000]) assert.ok(compareScanners(text, {}, windowBytes));
});

test('slices give the same index, and the process does other work between them', async () => {
  const text = Buffer.from(JSON.stringify({ texts: Array.from({ length: 2000 }, (_, at) => 'é'.repeat(at)) }));
  let turns = 0;
  let isDone = false;
  const count = async () => {
    for (; !isDone; turns++) await nextTurn();
  };
  const counting = count();
  const slices = new WorkSlices(createYieldQueue());
  Object.defineProperty(slices, 'isOver', { value: true });
  const index = await indexJsonInSlices(text, {}, { slices });
  isDone = true;
  await counting;
  assert.ok(turns > 20, String(turns));
  assert.equal(index.kind(0), jsonKind.object);
  assert.deepEqual(index.materialize(0), JSON.parse(text.toString()));
  const wrong = Buffer.concat([text.subarray(0, -1), Buffer.from(',"texts":1}')]);
  await assert.rejects(indexJsonInSlices(wrong, {}), (error) => error instanceof JsonProblemError && error.kind === 'duplicate-key');
});

test('texts that are scanned at the same time do not disturb each other', async () => {
  const texts = Array.from({ length: 7 }, (_, at) =>
    Buffer.from(JSON.stringify(Array.from({ length: 900 * at }, (__, item) => `${at}:${item}`))),
  );
  const indexes = await Promise.all(
    texts.map(async (text) => {
      const slices = new WorkSlices(createYieldQueue());
      Object.defineProperty(slices, 'isOver', { value: true });
      return await indexJsonInSlices(text, {}, { slices, stepBytes: 1000 });
    }),
  );
  indexes.forEach((index, at) => assert.deepEqual(index.materialize(0), JSON.parse(texts[at]?.toString() ?? '')));
});
