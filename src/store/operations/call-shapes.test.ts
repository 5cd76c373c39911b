import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { encodeEntry } from '../../billing/ledger/entry-json.ts';
import { entries } from '../../billing/ledger/testing/entry-arbitrary.ts';
import { type CallShape, CallShapes, readEntryText } from './call-shapes.ts';

/** Reads a row back as a database would return it. */
function readBack(callId: string, text: string, shapes: CallShapes, names = ''): { readonly text: string; readonly shape?: CallShape } {
  const bytes = Buffer.from(text);
  const shaped = shapes.split(names, callId, bytes);
  if (shaped === undefined) {
    assert.equal(bytes.toString(), text, 'a whole text is unchanged');
    return { text };
  }
  const { shape, values } = shaped;
  const row = { call_id: callId, entry: values.toString(), shape: BigInt(shape.id), template: shape.template.toString() };
  return { text: readEntryText(row), shape };
}

test('every text is read back exactly, whatever its names and values contain', () => {
  fc.assert(
    fc.property(fc.array(entries, { minLength: 1, maxLength: 3 }), fc.array(fc.nat({ max: 2 }), { maxLength: 12 }), (some, order) => {
      const shapes = new CallShapes();
      for (const [index, which] of order.entries()) {
        const entry = some[which % some.length];
        assert.ok(entry);
        const { callId } = entry;
        for (const text of [encodeEntry(entry), encodeEntry({ ...entry, acceptedAtMs: index, durationMs: index / 3 })]) {
          assert.equal(readBack(callId, text, shapes).text, text);
        }
      }
    }),
  );
});

const plain: CallEntry = {
  callId: 'req_1',
  acceptedAtMs: 5,
  userName: 'zoë',
  keyId: 'key_1',
  keyName: 'ci',
  dialect: 'openai-chat',
  requestedModel: 'm',
  upstream: 'u',
  vendor: 'v',
  upstreamModel: 'm-2026',
  stream: false,
  inputCharacters: 1500,
  priceVersion: '1',
  end: 'finished',
  upstreamStatus: 200,
  upstreamRequestId: 'abc',
  usage: { inputTokens: 800, outputTokens: 150 },
  rawUsage: { prompt_tokens: 800, details: { cached_tokens: 0, ratio: 1.5e-7 }, tier: 'default' },
  estimated: false,
  durationMs: 812.25,
  charge: { amountNanoUsd: 4_650_000n, lines: [{ meter: 'input', quantity: 800, unitPrice: '2.5', per: 1_000_000 }], priceId: 'm' },
};

/** Another call of the same kind. */
const another = (number: number): CallEntry => ({
  ...plain,
  callId: `req_${number}`,
  acceptedAtMs: number,
  upstreamRequestId: `q"${number}`,
  durationMs: number / 7,
  usage: { inputTokens: number, outputTokens: 1 },
  charge: { ...plain.charge, amountNanoUsd: -BigInt(number) },
});

test('calls of one kind share a shape from the second on, and store only their own values', () => {
  const shapes = new CallShapes();
  const plainAgain = { ...plain, callId: 'req_2', acceptedAtMs: 77 };
  assert.equal(readBack(plain.callId, encodeEntry(plain), shapes).shape, undefined);
  const first = readBack(plainAgain.callId, encodeEntry(plainAgain), shapes).shape;
  assert.ok(first);
  const bytes = Buffer.from(encodeEntry({ ...another(3), upstreamRequestId: 'x' }));
  const shaped = shapes.split('', 'req_3', bytes);
  assert.equal(shaped?.shape.id, first.id);
  assert.equal(shaped?.values.toString().replaceAll('\x1f', '|'), '\x1e|3|1500|x|3|1|800|0|1.5e-7|0.42857142857142855|-3|800|');
  // The id depends on nothing but the text.
  const others = new CallShapes();
  readBack('req_8', encodeEntry({ ...plain, callId: 'req_8' }), others);
  assert.equal(readBack('req_9', encodeEntry({ ...plain, callId: 'req_9' }), others).shape?.id, first.id);
});

test('a value with an escaped quote, and calls of other kinds in between, are read back exactly', () => {
  const shapes = new CallShapes();
  for (let number = 0; number < 30; number += 1) {
    const entry = [another(number), { ...plain, stopReason: 'stop', callId: `"${number}` }, { ...plain, end: 'cut' as const }][number % 3];
    assert.ok(entry);
    const text = encodeEntry(entry);
    assert.equal(readBack(entry.callId, text, shapes, String(number % 2)).text, text);
  }
});

test('a row whose values do not fit its shape is refused', () => {
  const row = { call_id: 'a', entry: '1\x1f2\x1f', shape: 5n, template: '{"a":\x1f}' };
  assert.throws(() => readEntryText(row), { kind: 'corrupt' });
  assert.throws(() => readEntryText({ ...row, template: null }), { kind: 'corrupt' });
  assert.equal(readEntryText({ ...row, entry: '1\x1f' }), '{"a":1}');
  assert.equal(readEntryText({ entry: '{}', shape: null }), '{}');
});

test('an id that another shape has in the database is not used: its entries are booked as a whole', async () => {
  const shapes = new CallShapes();
  readBack('req_1', encodeEntry(plain), shapes);
  const { shape } = readBack('req_2', encodeEntry({ ...plain, callId: 'req_2' }), shapes);
  assert.ok(shape);
  const holding = (template: string): Parameters<CallShapes['write']>[0] => {
    const fragments = { textOfBytes: '?', sumsPerInsert: [1] };
    const database = { run: () => Promise.resolve(0), first: () => Promise.resolve({ template }), fragments };
    return database as unknown as Parameters<CallShapes['write']>[0];
  };
  await shapes.write(holding(shape.template.toString()), new Set([shape]));
  await assert.rejects(shapes.write(holding('{}'), new Set([shape])), { kind: 'unavailable' });
  for (const callId of ['req_3', 'req_4', 'req_5'])
    assert.equal(readBack(callId, encodeEntry({ ...plain, callId }), shapes).shape, undefined);
});
