import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Usage } from '../../inference/usage.ts';
import { parseDecimal } from './decimal.ts';
import { formatCredits } from './format-credits.ts';
import { modelSpellings } from './model-spellings.ts';
import { createPriceBook } from './price-book.ts';
import { bookOf, callOf, plainEntry } from './testing/price-book-kit.ts';
import type { RatedCall } from './rating.ts';
import { recomputeAmount } from './recompute-amount.ts';
import { rateTools } from './tool-prices.ts';

const per = 1_000_000;
const book = bookOf(plainEntry());
const linesOf = (priced: ReturnType<typeof createPriceBook>, usage: Usage, more: Partial<RatedCall> = {}) =>
  priced.rate(callOf(usage, more)).lines;

test('parts that exceed their whole count only up to what the parts before them left', () => {
  const kinds = {
    inputAudio: '2',
    inputImage: '3',
    cacheRead: '4',
    cacheReadAudio: '5',
    cacheReadImage: '6',
    outputAudio: '7',
    outputImage: '8',
    reasoning: '9',
  };
  const priced = createPriceBook({
    book: bookOf(plainEntry({ tiers: [{ inputAbove: 0, prices: { input: '1', output: '1', ...kinds } }] })),
  });
  for (const [usage, parts] of [
    [{ inputTokens: 5, inputAudioTokens: 4, inputImageTokens: 9 }, ['input_audio 4', 'input_image 1']],
    [{ cacheReadTokens: 5, cacheReadAudioTokens: 4, cacheReadImageTokens: 9 }, ['cache_read_audio 4', 'cache_read_image 1']],
    [{ outputTokens: 7, outputAudioTokens: 4, outputImageTokens: 9 }, ['output_audio 4', 'output_image 3']],
    [
      { outputTokens: 7, outputAudioTokens: 4, outputImageTokens: 1, reasoningTokens: 9 },
      ['output_audio 4', 'output_image 1', 'reasoning 2'],
    ],
  ] as const)
    assert.deepEqual(
      linesOf(priced, usage).map(({ meter, quantity }) => `${meter} ${quantity}`),
      parts,
    );
});

test('factors of users or keys apply on their own; a payer without one has no multiplier, and none is in the version', () => {
  const line = { meter: 'input', quantity: 5, unitPrice: '2', per };
  const alice = { userName: 'alice', keyId: 'key_1' };
  for (const [factors, multipliers] of [
    [{ users: { alice: '2' } }, { 'user:alice': '2' }],
    [{ keys: { key_1: '3' } }, { 'key:key_1': '3' }],
  ] as const) {
    const priced = createPriceBook({ book, factors });
    assert.deepEqual(linesOf(priced, { inputTokens: 5 }, alice), [{ ...line, multipliers }]);
    assert.deepEqual(linesOf(priced, { inputTokens: 5 }, { userName: 'bob', keyId: 'key_2' }), [line]);
    assert.deepEqual(linesOf(priced, { inputTokens: 5 }), [line]);
    assert.notEqual(priced.version, createPriceBook({ book }).version);
  }
  assert.equal(createPriceBook({ book, factors: {} }).version, createPriceBook({ book }).version);
});

test('a computed line without units is omitted, and others have the multipliers of everything', () => {
  const lines = [
    { meter: 'none', quantity: '0', price: '1' },
    { meter: 'some', quantity: 'input_tokens', price: '1' },
  ];
  const priced = createPriceBook({ book: bookOf(plainEntry({ tiers: undefined, lines })), factors: { users: { alice: '2' } } });
  const some = { meter: 'some', quantity: 5, unitPrice: '1', per: 1, formula: 'input_tokens' };
  assert.deepEqual(linesOf(priced, { inputTokens: 5 }), [some]);
  assert.deepEqual(linesOf(priced, { inputTokens: 5 }, { userName: 'alice' }), [{ ...some, multipliers: { 'user:alice': '2' } }]);
});

test('the price without a condition comes last wherever it is listed, and the pointers of all are read', () => {
  const hd = plainEntry({ variant: 'hd', when: '/quality == "hd"', tiers: [{ inputAbove: 0, prices: { input: '9', output: '9' } }] });
  const lines = [{ meter: 'fps', quantity: '/fps ?? 0', price: '0', when: '/sound == true' }];
  const plain = plainEntry({ lines });
  for (const entries of [
    [hd, plain],
    [plain, hd],
  ]) {
    const priced = createPriceBook({ book: bookOf(...entries) });
    assert.deepEqual(
      ['"hd"', '"sd"'].map((quality) => linesOf(priced, { inputTokens: 1 }, { pricingParameters: { '/quality': quality } })[0]?.unitPrice),
      ['9', '2'],
    );
    assert.deepEqual(priced.parametersOf(callOf({})), ['/quality', '/sound', '/fps']);
  }
  const overridden = createPriceBook({ book: bookOf(plain), overrides: [{ model: 'own', input: '1', output: '1' }] });
  assert.deepEqual(overridden.parametersOf(callOf({}, { requestedModel: 'own' })), ['/sound', '/fps']);
});

test('an override of searches alone prices searches of an unlisted model, and nothing else', () => {
  const priced = createPriceBook({ book, overrides: [{ model: 'own', webSearch: '0.5' }] });
  const usage = { inputTokens: 5, webSearches: 2, outputImages: 1 };
  assert.deepEqual(linesOf(priced, usage, { upstreamModel: 'unknown', requestedModel: 'own' }), [
    { meter: 'web_search', quantity: 2, unitPrice: '0.5', per: 1 },
  ]);
  assert.deepEqual(priced.parametersOf(callOf({}, { upstreamModel: 'unknown', requestedModel: 'own' })), []);
});

test('the lines include uses of tools without a price, but no tools without use', () => {
  const usage = { webSearches: 2, pagesRead: 3, codeExecutions: 0 };
  const search = { meter: 'gateway_web_search', quantity: 2, unitPrice: '0.01', per: 1 };
  const page = { meter: 'gateway_page_read', quantity: 3, unitPrice: '0', per: 1 };
  assert.deepEqual(rateTools(usage, { webSearch: '0.01' }), {
    amountNanoUsd: 20_000_000n,
    lines: [search, page],
    priceId: 'gateway/tools',
  });
  const multipliers = { 'user:alice': '2' };
  assert.deepEqual(rateTools(usage, { webSearch: '0.01' }, multipliers).lines, [
    { ...search, multipliers },
    { ...page, multipliers },
  ]);
});

test('a tool price that is not a decimal is named, a long one with its beginning', () => {
  const long = 'x'.repeat(100);
  const short = `"${'x'.repeat(32)}"`;
  assert.throws(
    () => createPriceBook({ book, toolPrices: { webSearch: long } }),
    new RegExp(`price of the tool webSearch .* got ${short}`),
  );
  assert.throws(() => createPriceBook({ book, factors: { users: { a: long } } }), new RegExp(`got ${short}`));
  assert.throws(() => createPriceBook({ book, overrides: [{ model: 'm', input: long, output: '1' }] }), new RegExp(`got ${short}`));
  assert.throws(() => parseDecimal(long), new RegExp(`^RangeError: ${short} is not a decimal number`));
});

test('a book has its rule for models without a price, and its own unit if set', () => {
  const credits = { name: 'credits', perUsd: '100' };
  const plain = createPriceBook({ book });
  assert.deepEqual([plain.unlisted, 'credits' in plain], ['free', false]);
  assert.deepEqual(createPriceBook({ book, credits, unlisted: 'refuse' }).credits, credits);
  assert.equal(formatCredits(0n, credits), '0 credits');
});

test('the release of a model is that of any entry, else the start of its first window', () => {
  const from = (effectiveFrom: string, more: Record<string, unknown> = {}) => plainEntry({ effectiveFrom, ...more });
  const released = (...entries: Record<string, unknown>[]) =>
    createPriceBook({ book: bookOf(...entries) })
      .models('acme')
      .map(({ releasedAtMs, displayName }) => [new Date(releasedAtMs).toISOString().slice(0, 10), displayName]);
  assert.deepEqual(released(from('2026-03-01', { displayName: 'late' }), from('2026-02-01')), [['2026-02-01', 'M 1']]);
  assert.deepEqual(released(from('2026-02-01'), from('2026-03-01', { displayName: 'late' })), [['2026-02-01', 'M 1']]);
  assert.deepEqual(released(from('2026-02-01', { released: '2025-06-01' })), [['2025-06-01', 'M 1']]);
  assert.deepEqual(
    released(from('2026-02-01', { released: '2025-06-01' }), from('2026-03-01', { released: '2025-06-01', displayName: 'same' })),
    [['2025-06-01', 'M 1']],
  );
});

test('a date or `latest` is recognised only at the end of a name', () => {
  for (const [name, spellings] of [
    ['m-20250929', ['m-20250929', 'm']],
    ['m-2025-09-29', ['m-2025-09-29', 'm']],
    ['m-20250929-x', ['m-20250929-x']],
    ['m-latest-x', ['m-latest-x']],
    ['m-20250', ['m-20250']],
    ['m-2025abcd', ['m-2025abcd']],
    ['models/m-latest', ['models/m-latest', 'm-latest', 'm']],
  ] as const)
    assert.deepEqual(modelSpellings(name), spellings, name);
});

test('an impossible line is refused with the reason', () => {
  const line = { meter: 'input', quantity: 1, unitPrice: '1', per: 1 };
  assert.throws(() => recomputeAmount([{ ...line, per: 0 }]), /"input" is priced per 0 units/);
  assert.throws(() => recomputeAmount([{ ...line, quantity: -1 }]), /-1 is not a count/);
  assert.equal(recomputeAmount([{ ...line, quantity: 0 }]), 0n);
});
