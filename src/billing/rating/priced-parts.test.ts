import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Usage } from '../../inference/usage.ts';
import { formatCredits } from './format-credits.ts';
import { parsePriceBook } from './parse-price-book.ts';
import { createPriceBook } from './price-book.ts';
import { bookOf, callOf, plainEntry, problemsOf } from './testing/price-book-kit.ts';
import type { RatedCall } from './rating.ts';
import { recomputeAmount } from './recompute-amount.ts';

function rate(entry: Record<string, unknown>, usage: Usage, more: Partial<RatedCall> = {}) {
  const charge = createPriceBook({ book: bookOf(plainEntry(entry)) }).rate(callOf(usage, more));
  assert.equal(recomputeAmount(JSON.parse(JSON.stringify(charge.lines))), charge.amountNanoUsd, 'a receipt recomputes');
  return charge;
}

const metersOf = ({ lines }: ReturnType<typeof rate>) =>
  lines.map(({ meter, quantity, unitPrice, per }) => [meter, quantity, unitPrice, per]);

describe('meters', () => {
  test('every kind of token has its own price if there is one, and else the price of its whole', () => {
    const usage = {
      inputTokens: 100,
      inputAudioTokens: 10,
      inputImageTokens: 20,
      cacheReadTokens: 200,
      cacheReadAudioTokens: 30,
      cacheReadImageTokens: 40,
      cacheWrite5mTokens: 5,
      cacheWrite1hTokens: 6,
      outputTokens: 300,
      outputAudioTokens: 50,
      outputImageTokens: 60,
      reasoningTokens: 70,
    };
    const prices = {
      input: '1',
      inputAudio: '2',
      inputImage: '3',
      cacheRead: '4',
      cacheReadAudio: '5',
      cacheReadImage: '6',
      cacheWrite5m: '7',
      cacheWrite1h: '8',
      output: '9',
      outputAudio: '10',
      outputImage: '11',
      reasoning: '12',
    };
    const per = 1_000_000;
    assert.deepEqual(metersOf(rate({ tiers: [{ inputAbove: 0, prices }] }, usage)), [
      ['input', 70, '1', per],
      ['input_audio', 10, '2', per],
      ['input_image', 20, '3', per],
      ['cache_read', 130, '4', per],
      ['cache_read_audio', 30, '5', per],
      ['cache_read_image', 40, '6', per],
      ['cache_write_5m', 5, '7', per],
      ['cache_write_1h', 6, '8', per],
      ['output', 120, '9', per],
      ['output_audio', 50, '10', per],
      ['output_image', 60, '11', per],
      ['reasoning', 70, '12', per],
    ]);
    const plain = { input: '1', output: '9', cacheRead: '4', cacheWrite5m: '7' };
    assert.deepEqual(metersOf(rate({ tiers: [{ inputAbove: 0, prices: plain }] }, usage)), [
      ['input', 100, '1', per],
      ['cache_read', 200, '4', per],
      ['cache_write_5m', 5, '7', per],
      ['cache_write_1h', 6, '7', per],
      ['output', 300, '9', per],
    ]);
    const some = { input: '1', output: '9', inputImage: '3', outputImage: '11', reasoning: '12' };
    const absurd = { inputTokens: 10, inputImageTokens: 99, outputTokens: 10, outputImageTokens: 8, reasoningTokens: 8 };
    assert.deepEqual(metersOf(rate({ tiers: [{ inputAbove: 0, prices: some }] }, absurd)), [
      ['input_image', 10, '3', per],
      ['output_image', 8, '11', per],
      ['reasoning', 2, '12', per],
    ]);
  });

  test('media and fees: each by its own unit', () => {
    const media = {
      characters: '15',
      audioMinute: '0.006',
      outputAudioMinute: '0.6',
      videoSecond: { '720p': '0.1' },
      inputImage: '0.002',
      outputImage: '0.04',
      searchUnit: '0.002',
    };
    const fees = {
      web_search: '0.01',
      grounded_prompt: '0.035',
      web_fetch: '0.001',
      file_search: '0.0025',
      tool_call: '0.005',
      code_session: '0.03',
      call: '0.5',
    };
    const usage = {
      inputCharacters: 7,
      inputAudioMs: 1001,
      outputAudioMs: 1,
      outputVideoMs: 2500,
      inputImages: 2,
      outputImages: 3,
      searchUnits: 2,
      webSearches: 4,
      webFetches: 5,
      fileSearches: 6,
      toolCalls: 7,
      codeSessions: 8,
    };
    // Meter, quantity, price, and the units of the price.
    const expected = `
      characters 7 15 1000000
      audio_second 2 0.006 60
      output_audio_second 1 0.6 60
      video_ms:720p 2500 0.1 1000
      input_image 2 0.002 1
      output_image 3 0.04 1
      search_unit 2 0.002 1
      web_search 4 0.01 1
      grounded_prompt 1 0.035 1
      web_fetch 5 0.001 1
      file_search 6 0.0025 1
      tool_call 7 0.005 1
      code_session 8 0.03 1
      call 1 0.5 1
    `;
    const lines = metersOf(rate({ tiers: undefined, media, fees }, usage)).map((line) => line.join(' '));
    assert.deepEqual(lines, expected.trim().split(/\s*\n\s*/));
  });
});

describe('multipliers and lines', () => {
  const multipliers = [
    { name: 'region', when: '(inference_geo ?? /inference_geo) == "us"', factor: '1.1' },
    { name: 'quality', factor: '/metadata/quality == "hd" ? 1.5 : 1', of: 'all' },
    { name: 'third', factor: '1 / 3' },
  ];
  const fees = { web_search: '0.01' };

  test('those of tokens do not apply to fees, those of all do, and each is named with its value', () => {
    const pricingParameters = { '/inference_geo': '"us"', '/metadata/quality': '"hd"' };
    const { lines, amountNanoUsd } = rate(
      { multipliers, fees, serviceTiers: { flex: '0.5' } },
      { inputTokens: 1_000_000, webSearches: 1 },
      { pricingParameters, serviceTier: 'flex' },
    );
    assert.deepEqual(lines[0]?.multipliers, { 'service_tier:flex': '0.5', region: '1.1', third: '0.333333333333', quality: '1.5' });
    assert.deepEqual(lines[1]?.multipliers, { quality: '1.5' });
    assert.equal(amountNanoUsd, 550_000_000n + 15_000_000n);
  });

  test('values of the reply have precedence over those of the request, and negative values count as 0', () => {
    const region = (pricingParameters: Record<string, string>) =>
      rate({ multipliers: [multipliers[0]] }, { inputTokens: 1_000_000 }, { pricingParameters }).amountNanoUsd;
    assert.deepEqual(
      [region({ '/inference_geo': '"us"', inference_geo: 'global' }), region({ inference_geo: 'us' }), region({})],
      [2_000_000_000n, 2_200_000_000n, 2_000_000_000n],
    );
    const negative = rate(
      { multipliers: [{ name: 'gift', factor: '-5' }], lines: [{ meter: 'gift', quantity: '-3', price: '1' }] },
      { inputTokens: 5 },
    );
    assert.deepEqual([negative.amountNanoUsd, negative.lines.length], [0n, 1]);
    const vast = rate(
      { lines: [{ meter: 'vast', quantity: '/n ?? 0', price: '1' }], multipliers: [{ name: 'vast', factor: '/n ?? 1' }] },
      { inputTokens: 1 },
      { pricingParameters: { '/n': '1e40' } },
    );
    assert.deepEqual(
      vast.lines.map(({ quantity, multipliers: factors }) => [quantity, factors]),
      [
        [1, { vast: '1000000' }],
        [1_000_000_000, undefined],
      ],
    );
  });

  test('a line has the units of its expression, rounded up, and its formula', () => {
    const lines = [
      { meter: 'hd_second', when: '/metadata/quality == "hd"', quantity: 'output_video_seconds * 1.5', price: '0.02', per: 2 },
    ];
    const entry = { tiers: undefined, lines };
    const charge = rate(entry, { outputVideoMs: 1500 }, { pricingParameters: { '/metadata/quality': '"hd"' } });
    assert.deepEqual(charge.lines, [{ meter: 'hd_second', quantity: 3, unitPrice: '0.02', per: 2, formula: 'output_video_seconds * 1.5' }]);
    assert.equal(charge.amountNanoUsd, 30_000_000n);
    assert.deepEqual(rate(entry, { outputVideoMs: 1500 }).lines, []);
    assert.deepEqual(rate({ lines: [{ meter: 'each', quantity: '1', price: '1' }] }, {}).lines, [], 'there is no usage');
  });

  test('variants: the first with a true condition prices the call, else the one without', () => {
    const priced = (variant: string | undefined, input: string, when?: string) =>
      plainEntry({
        tiers: [{ inputAbove: 0, prices: { input, output: '0' } }],
        ...(variant === undefined ? {} : { variant }),
        ...(when === undefined ? {} : { when }),
      });
    const book = createPriceBook({
      book: bookOf(priced(undefined, '1'), priced('hd', '3', '/quality == "hd" and /size > 5'), priced('large', '2', '/size > 5')),
    });
    const of = (pricingParameters: Record<string, string>) => {
      const { amountNanoUsd, priceId } = book.rate(callOf({ inputTokens: 1000 }, { pricingParameters }));
      return [amountNanoUsd / 1_000_000n, priceId];
    };
    assert.deepEqual(of({}), [1n, 'acme/m-1@2026-01-01']);
    assert.deepEqual(of({ '/size': '6' }), [2n, 'acme/m-1@2026-01-01#large']);
    assert.deepEqual(of({ '/size': '6', '/quality': '"hd"' }), [3n, 'acme/m-1@2026-01-01#hd']);
    assert.deepEqual(book.parametersOf(callOf({})), ['/quality', '/size']);
  });

  test('only the parameters of a price are read from a request', () => {
    const book = createPriceBook({
      book: bookOf(plainEntry({ multipliers }), plainEntry({ model: 'm-2' })),
      overrides: [{ model: 'own', input: '1', output: '1' }],
    });
    assert.deepEqual(book.parametersOf(callOf({})), ['/inference_geo', '/metadata/quality']);
    assert.deepEqual(book.parametersOf(callOf({}, { upstreamModel: 'm-2' })), []);
    assert.deepEqual(book.parametersOf(callOf({}, { upstreamModel: 'unknown' })), []);
    assert.deepEqual(
      [
        book.prices(callOf({})),
        book.prices(callOf({}, { upstreamModel: 'unknown' })),
        book.prices(callOf({}, { upstreamModel: 'unknown', requestedModel: 'own' })),
      ],
      [true, false, true],
    );
  });
});

describe('who pays', () => {
  const factors = { users: { alice: '0.9', toString: '7' }, keys: { key_1: '2' } };
  const book = createPriceBook({ book: bookOf(plainEntry({ fees: { web_search: '0.01' } })), factors, toolPrices: { webSearch: '0.1' } });

  test('factors of user and key apply to everything, and to each other', () => {
    const usage = { inputTokens: 1_000_000, webSearches: 1 };
    const amount = (userName: string, keyId: string) => book.rate(callOf(usage, { userName, keyId })).amountNanoUsd;
    assert.deepEqual(
      [amount('alice', 'key_1'), amount('alice', 'x'), amount('bob', 'key_1'), amount('bob', 'x'), amount('constructor', 'x')],
      [3_618_000_000n, 1_809_000_000n, 4_020_000_000n, 2_010_000_000n, 2_010_000_000n],
    );
    const { lines } = book.rate(callOf(usage, { userName: 'alice', keyId: 'key_1' }));
    for (const { multipliers } of lines) assert.deepEqual(multipliers, { 'user:alice': '0.9', 'key:key_1': '2' });
    assert.equal(book.rateTools({ webSearches: 1 }, { userName: 'alice' }).amountNanoUsd, 90_000_000n);
    assert.equal(book.rateTools({ webSearches: 1 }).amountNanoUsd, 100_000_000n);
  });

  test('changed factors give another version, and invalid ones are named', () => {
    const plain = createPriceBook({ book: bookOf(plainEntry()) });
    assert.notEqual(plain.version, createPriceBook({ book: bookOf(plainEntry()), factors }).version);
    assert.throws(
      () => createPriceBook({ book: bookOf(plainEntry()), factors: { users: { a: '-1' }, keys: { k: '1e3' } } }),
      /factor of user a must be a decimal.*factor of key k must be/,
    );
  });
});

describe('windows and currency', () => {
  test('a window may end before another begins, and in between there is no price', () => {
    const book = createPriceBook({
      book: bookOf(plainEntry({ effectiveUntil: '2026-02-01' }), plainEntry({ effectiveFrom: '2026-03-01' })),
    });
    const idAt = (day: string) => book.rate(callOf({ inputTokens: 1 }, { acceptedAtMs: Date.parse(`${day}Z`) })).priceId;
    assert.deepEqual(
      ['2025-12-31T23:59:59.999', '2026-01-01T00:00', '2026-01-31T23:59:59.999', '2026-02-01T00:00', '2026-03-01T00:00'].map(idAt),
      [undefined, 'acme/m-1@2026-01-01', 'acme/m-1@2026-01-01', undefined, 'acme/m-1@2026-03-01'],
    );
  });

  test('prices in another currency, or in credits, are converted exactly as they are read', () => {
    const entries = [
      plainEntry({
        media: { videoSecond: { '720p': '100' }, inputImage: '1' },
        fees: { call: '50' },
        lines: [{ meter: 'extra', quantity: '1', price: '3' }],
      }),
    ];
    const [entry] = parsePriceBook({ version: 'v', currency: 'credits', usdPerUnit: '0.002', entries }).entries;
    assert.deepEqual(
      [entry?.tiers?.[0]?.prices, entry?.media, entry?.fees, entry?.lines?.[0]?.price],
      [{ input: '0.004', output: '0.02' }, { videoSecond: { '720p': '0.2' }, inputImage: '0.002' }, { call: '0.1' }, '0.006'],
    );
    assert.match(problemsOf({ version: 'v', currency: 'EUR', entries }).join(), /usdPerUnit is missing: how many USD one EUR is/);
    assert.match(problemsOf({ version: 'v', currency: 'USD', usdPerUnit: '1', entries }).join(), /for other currencies than USD/);
  });

  test('amounts are shown in the operator’s own unit', () => {
    assert.equal(formatCredits(1_234_500_000n, { name: 'credits', perUsd: '500000' }), '617250 credits');
    assert.equal(formatCredits(-1n, { name: 'points', perUsd: '1' }), '-0.000000001 points');
  });
});

describe('problems of a book', () => {
  const faults: readonly (readonly [entries: Record<string, unknown>[], words: RegExp])[] = [
    [[plainEntry({ tiers: undefined })], /neither tiers nor media, fees or lines/],
    [[plainEntry({ when: '/a == 1' })], /all its entries have a condition/],
    [[plainEntry(), plainEntry({ when: '/a == 1' })], /an entry with a condition needs a variant name/],
    [[plainEntry(), plainEntry({ when: '/a == 1', variant: 'v' }), plainEntry({ when: '/a == 2', variant: 'v' })], /the same variant name/],
    [[plainEntry(), plainEntry()], /acme\/m-1@2026-01-01: this window is listed twice/],
    [[plainEntry({ when: '/a', variant: 'v' }), plainEntry()], /m-1@2026-01-01#v: when: a condition must be true or false/],
    [[plainEntry({ multipliers: [{ name: 'a', factor: '/x' }] })], /multiplier a, factor: it may be absent/],
    [[plainEntry({ multipliers: [{ name: 'a', when: '1', factor: '1' }] })], /multiplier a, when: a condition/],
    [
      [
        plainEntry({
          multipliers: [
            { name: 'a', factor: '1' },
            { name: 'a', factor: '2' },
          ],
        }),
      ],
      /multipliers has "a" twice/,
    ],
    [[plainEntry({ lines: [{ meter: 'a', quantity: '"x"', price: '1' }] })], /line a, quantity: a number is required/],
    [[plainEntry({ lines: [{ meter: 'a', when: '/x', quantity: '1', price: '1' }] })], /line a, when: a condition/],
    [[plainEntry({ lines: [{ meter: 'a', quantity: '1', price: '-1' }] })], /lines\/0\/price/],
    [
      [
        plainEntry({
          lines: [
            { meter: 'a', quantity: '1', price: '1' },
            { meter: 'a', quantity: '1', price: '1' },
          ],
        }),
      ],
      /lines has "a" twice/,
    ],
    [
      [plainEntry({ when: Array.from('abcdefghi', (name) => `/${name} == 1`).join(' or '), variant: 'v' }), plainEntry()],
      /reads more than 8 values/,
    ],
    [[plainEntry({ effectiveUntil: '2026-01-01' })], /effectiveUntil 2026-01-01 must be after effectiveFrom/],
    [
      [plainEntry({ effectiveUntil: '2026-03-01' }), plainEntry({ effectiveFrom: '2026-02-01' })],
      /valid until 2026-03-01 and overlaps the window that begins on 2026-02-01/,
    ],
    [[plainEntry({ effectiveUntil: '2026-02-30' })], /effectiveUntil 2026-02-30 is not a date/],
    [[plainEntry({ fees: { call: '-0.1' } })], /fees\/call/],
  ];
  for (const [entries, words] of faults) {
    test(String(words), () => assert.match(problemsOf({ version: 'v', currency: 'USD', entries }).join('\n'), words));
  }
});
