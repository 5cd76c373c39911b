import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lineOfPointer, lineOfProblem } from './line-of-pointer.ts';
import { conditionsOf, labelOfMember, plainPrices, priceChange, type PriceEntry, withPrice } from './price-words.ts';

const entry: PriceEntry = {
  vendor: 'v',
  model: 'm',
  displayName: 'M',
  effectiveFrom: '2026-01-01',
  tiers: [
    { inputAbove: 0, prices: { input: '3', output: '15' } },
    { inputAbove: 200_000, prices: { input: '6', output: '22.5' } },
  ],
  media: { videoSecond: { '720p': '0.07' }, characters: '15' },
  fees: { web_search: '0.01' },
  multipliers: [{ name: 'us', when: 'geo == "us"', factor: '1.1' }],
  source: 's',
  checked: '2026-01-01',
};

test('the prices of an entry are its single numbers, with their units', () => {
  assert.deepEqual(
    plainPrices(entry).map(({ label, price }) => `${label} ${price}`),
    [
      'input / 1\u00a0M 3',
      'output / 1\u00a0M 15',
      'input / 1\u00a0M, above 200\u202f000 tokens 6',
      'output / 1\u00a0M, above 200\u202f000 tokens 22.5',
      'second of video, 720p 0.07',
      '1 M characters 15',
      'web search 0.01',
    ],
  );
  assert.deepEqual(conditionsOf(entry), ['us × 1.1 if geo == "us"']);
  assert.equal(labelOfMember('serviceTiers.batch'), 'service tier batch');
});

test('a changed price leaves all else as it was', () => {
  const changed = withPrice(entry, 'tiers.1.prices.input', '5.5');
  assert.deepEqual(changed, {
    ...entry,
    tiers: [entry.tiers?.[0], { inputAbove: 200_000, prices: { input: '5.5', output: '22.5' } }],
  });
  assert.equal(withPrice(entry, 'media.videoSecond.720p', '0.08').media?.videoSecond?.['720p'], '0.08');
});

test('the change of a price is exact also where numbers of the processor are not', () => {
  assert.deepEqual(priceChange('3', '2.4'), { text: '▼ \u221220.0\u00a0%', isMore: false });
  assert.deepEqual(priceChange('0.000000000000000001', '0.000000000000000002'), { text: '▲ +100.0\u00a0%', isMore: true });
  assert.equal(priceChange('3', '3.00'), undefined);
  assert.equal(priceChange('geo == "us"', '3'), undefined);
});

test('a problem is at its line of the text, or at the object that lacks the member', () => {
  const text = JSON.stringify(
    { version: 'a', entries: [{ model: 'x, {"y' }, { model: 'z', tiers: [{ prices: { input: 'cheap' } }] }] },
    undefined,
    2,
  );
  const lineWith = (part: string): number => text.split('\n').findIndex((line) => line.includes(part)) + 1;
  assert.equal(lineOfPointer(text, '/entries/1/tiers/0/prices/input'), lineWith('cheap'));
  assert.equal(lineOfPointer(text, '/entries/1/tiers/0/prices/output'), lineWith('"prices"'));
  assert.equal(lineOfPointer(text, ''), 1);
  assert.equal(lineOfProblem(text, { pointer: '/book/entries/0/model', detail: 'x' }), lineWith('x, {'));
  assert.equal(lineOfProblem('version: a\nversion: b', { pointer: '/book', detail: 'The text has a mistake in line 2.' }), 2);
  assert.equal(lineOfProblem('version: a', { pointer: '/book/entries', detail: 'must have entries' }), undefined);
});
