import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallEntry } from '../ledger/call-entry.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { bookOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { pricedEntry } from '../rating/testing/priced-entry-kit.ts';
import { buildReceipt } from './build-receipt.ts';
import type { Receipt, ReceiptRow } from './receipt.ts';
import { digestOf } from './receipt-digest.ts';
import { verifyReceipt, verifyReceiptText } from './verify-receipt.ts';

// A price with every kind of line: a factor of its user, parameters of the request and of the reply, and a computed
// quantity.
const multipliers = [
  { name: 'fast', when: 'speed == "fast"', factor: '6' },
  { name: 'hd', when: '/quality == "hd"', factor: '2' },
];
const lines = [{ meter: 'frames', quantity: 'output_video_seconds * 24', price: '0.001' }];
const book = createPriceBook({
  book: bookOf(plainEntry({ multipliers, lines })),
  factors: { users: { alice: '0.5' }, keys: { key_2: '3' } },
});

function entry(more: Partial<CallEntry> = {}): CallEntry {
  const model = { vendor: 'acme', upstreamModel: 'm-1', requestedModel: 'm-1' };
  const parameters = { pricingParameters: { '/quality': '"hd"' }, replyParameters: { speed: 'fast' } };
  const usage = { inputTokens: 1_000_000, outputVideoMs: 1500 };
  return pricedEntry(book, usage, { ...model, ...parameters, heldNanoUsd: '20000000000', ...more });
}

const receipt = buildReceipt([entry()], true);

/** The receipt with one change, and a digest that matches. */
function changed(more: Partial<Receipt>): Receipt {
  const whole = { ...receipt, ...more };
  return { ...whole, digest: digestOf(whole) };
}

function changedRow(more: Partial<ReceiptRow>): Receipt {
  const [row] = receipt.rows;
  assert.ok(row !== undefined);
  return changed({ rows: [{ ...row, ...more }] });
}

function changedLine(more: Partial<ReceiptRow['lines'][number]>): Receipt {
  const [first, ...others] = receipt.rows[0]?.lines ?? [];
  assert.ok(first !== undefined);
  return changedRow({ lines: [{ ...first, ...more }, ...others] });
}

const pathsOf = (value: unknown, books: Parameters<typeof verifyReceipt>[1] = []) =>
  verifyReceipt(value, books).problems.map(({ path }) => path);

test('a receipt with factors, multipliers and computed quantities is recomputed with its book, for its payer', () => {
  const row = receipt.rows[0];
  assert.deepEqual(
    row?.lines.map(({ meter, formula, multipliers: applied }) => [meter, formula, Object.keys(applied).length]),
    [
      ['input', null, 3],
      ['frames', 'output_video_seconds * 24', 1],
    ],
  );
  assert.equal(receipt.total.nano_usd, '12018000000');
  assert.deepEqual(verifyReceipt(receipt, [book]).problems, []);
  for (const more of [{ userName: 'bob' }, { keyId: 'key_2' }]) {
    const { problems, rerated } = verifyReceipt(buildReceipt([entry(more)], true), [book]);
    assert.deepEqual([problems, rerated], [[], 1]);
  }
});

test('every computable member is checked, and a wrong one is named with its place', () => {
  const money = (nanoUsd: string, usd: string) => ({ nano_usd: nanoUsd, usd });
  const table: readonly (readonly [places: readonly string[], value: Receipt])[] = [
    [['digest'], { ...receipt, user: 'bob' }],
    [['rows.0.id'], changed({ request_id: 'req_2' })],
    [['total.nano_usd'], changed({ total: money('12018000001', '12.018') })],
    [['total.usd'], changed({ total: money('12018000000', '12.019') })],
    [['held'], changed({ held: null })],
    [['end'], changed({ end: 'cut' })],
    [['estimated'], changed({ estimated: true })],
    [
      ['total.nano_usd', 'total.usd', 'rows.0.amount.nano_usd', 'rows.0.amount.usd'],
      changedRow({ amount: money('12018000001', '12.018000001') }),
    ],
    [['rows.0.amount.usd'], changedRow({ amount: money('12018000000', '12.02') })],
    [['rows.0.sum_usd'], changedRow({ sum_usd: '12.017' })],
    [['rows.0.held.usd'], changedRow({ held: money('20000000000', '2') })],
    [['rows.0.estimate_reason'], changedRow({ estimate_reason: 'process_died' })],
    [['rows.0.lines.0.amount_usd'], changedLine({ amount_usd: '13' })],
    [['rows.0.lines'], changedLine({ unit_price_usd: 'two' })],
    [['rows.0.lines.0.quantity'], changedLine({ quantity: -1 })],
  ];
  for (const [places, value] of table) assert.deepEqual(pathsOf(value).toSorted(), [...places].toSorted(), places.join());
});

test('a problem names the value and the computed one', () => {
  const [total] = verifyReceipt(changed({ total: { nano_usd: '1', usd: '12.018' } })).problems;
  assert.equal(total?.problem, 'is "1", but "12018000000" was computed');
  const [price] = verifyReceipt(changedLine({ unit_price_usd: 'two' })).problems;
  assert.match(price?.problem ?? '', /"two" is not a decimal number/);
  const [form] = verifyReceipt(changedLine({ quantity: -1 })).problems;
  assert.match(form?.problem ?? '', /^must be .+, but is -1$/);
});

test('differences to the book of its version are named: missing lines, additional lines, and another price', () => {
  const all = receipt.rows[0]?.lines ?? [];
  const [input] = all;
  assert.ok(input !== undefined);
  const only = (problems: readonly string[]) => problems.filter((path) => /^rows\.0\.(lines\.\d|price\.id)$/.test(path));
  assert.deepEqual(only(pathsOf(changedRow({ lines: [input] }), [book])), ['rows.0.lines.1']);
  assert.deepEqual(only(pathsOf(changedRow({ lines: [...all, input] }), [book])), ['rows.0.lines.2']);
  assert.deepEqual(only(pathsOf(changedRow({ price: { version: book.version, id: 'other' } }), [book])), ['rows.0.price.id']);
  assert.deepEqual(only(pathsOf(changedRow({ usage: { input_tokens: 1_000_000 } }), [book])), ['rows.0.lines.1']);
});

test('a failed call costs nothing with any book, whatever its usage', () => {
  const failed = entry({ end: 'failed', charge: { amountNanoUsd: 0n, lines: [] } });
  assert.deepEqual(pathsOf(buildReceipt([failed], true), [book]), []);
  assert.deepEqual(pathsOf(buildReceipt([entry({ end: 'failed' })], true), [book]), ['rows.0.lines.0', 'rows.0.lines.1']);
});

test('a number that is not in canonical form is reported, because a digit may be lost; texts are not affected', () => {
  const text = JSON.stringify(changed({ user: '1.0 "2.0\\' }));
  assert.deepEqual(verifyReceiptText(text).problems, []);
  for (const [spelling, shown, number] of [
    ['12.0', '12.0', '12'],
    ['1.2e1', '1.2e1', '12'],
    [`12.${'0'.repeat(60)}`, `12.${'0'.repeat(37)}`, '12'],
  ] as const)
    assert.deepEqual(verifyReceiptText(text.replace('"input_characters":12', `"input_characters":${spelling}`)).problems, [
      { path: '', problem: `the number ${shown} must be written as ${number}` },
    ]);
});

test('a text that is not JSON, or has a member twice, is not a receipt', () => {
  for (const [text, words] of [
    ['{"a":1,"a":2}', /twice|duplicate/i],
    ['{', /./],
  ] as const) {
    const { problems, rerated, receipt: read } = verifyReceiptText(text, [book]);
    assert.deepEqual([problems.length, problems[0]?.path, rerated, read], [1, '', 0, undefined]);
    assert.match(problems[0]?.problem ?? '', words);
  }
});
