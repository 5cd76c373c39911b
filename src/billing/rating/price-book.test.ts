import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Usage } from '../../inference/usage.ts';
import { loadShippedPriceBook } from './load-shipped-price-book.ts';
import { modelSpellings } from './model-spellings.ts';
import type { PriceBookError } from './parse-price-book.ts';
import { type PriceOverride, createPriceBook } from './price-book.ts';
import { acceptedAtMs, bookOf, plainEntry, problemsOf } from './testing/price-book-kit.ts';
import type { RatedCall } from './rating.ts';
import { recomputeAmount } from './recompute-amount.ts';

const shipped = createPriceBook({ book: loadShippedPriceBook() });
function call(vendor: string, model: string, usage: Usage, more: Partial<RatedCall> = {}): RatedCall {
  return { vendor, upstreamModel: model, requestedModel: model, acceptedAtMs, usage, ...more };
}

describe('a price book file', () => {
  test('the shipped one is valid, and every price in it has its source', () => {
    const book = loadShippedPriceBook();
    assert.ok(book.entries.length > 40);
    for (const { source, checked } of book.entries) assert.ok(source.length > 0 && checked <= book.version);
  });

  test('every problem is named with its place', () => {
    const problems = problemsOf({
      version: 'x',
      currency: 'USD',
      entries: [
        plainEntry({ tiers: [{ inputAbove: 0, prices: { input: '-2', output: '1e3' } }] }),
        plainEntry({ model: 'm-2', colour: 'red' }),
        plainEntry({ model: 'm-3', tiers: [{ inputAbove: 5, prices: { input: '2', output: '10' } }] }),
        plainEntry({ model: 'm-4', checked: '2026-02-31' }),
        plainEntry({ model: 'm-5' }),
        plainEntry({ model: 'm-5' }),
        plainEntry({ model: 'm-6', aliases: ['m-5'] }),
      ],
    }).join('\n');
    for (const part of ['/entries/0/tiers/0/prices/input', '/entries/0/tiers/0/prices/output', '/entries/1', 'colour']) {
      assert.ok(problems.includes(part), `${part} in ${problems}`);
    }
    assert.match(problems, /acme\/m-3@2026-01-01: the first tier must begin at inputAbove 0/);
    assert.match(problems, /m-4.*checked 2026-02-31 is not a date/);
    assert.match(problems, /m-5@2026-01-01: this window is listed twice/);
    assert.match(problems, /m-6.*acme\/m-5 already belongs to m-5/);
  });

  test('tiers that do not rise, a float price, another currency and a missing book are refused', () => {
    const tier = (inputAbove: number) => ({ inputAbove, prices: { input: '2', output: '10' } });
    assert.match(
      problemsOf({ version: 'x', currency: 'USD', entries: [plainEntry({ tiers: [tier(0), tier(9), tier(9)] })] })[0] ?? '',
      /tier 2 must begin above/,
    );
    assert.notEqual(problemsOf({ version: 'x', currency: 'USD', entries: [plainEntry({ fees: { web_search: 0.01 } })] }).length, 0);
    assert.notEqual(problemsOf({ version: 'x', currency: 'EUR', entries: [plainEntry()] }).length, 0);
    assert.notEqual(problemsOf(undefined).length, 0);
  });
});

describe('model names', () => {
  test('dated, latest and resource spellings are found; names with only the same beginning are not', () => {
    for (const name of ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5-latest'])
      assert.ok(shipped.lists('anthropic', name), name);
    for (const name of ['gpt-5-2025-08-07', 'gpt-5', 'gpt-5.6']) assert.ok(shipped.lists('openai', name), name);
    assert.ok(shipped.lists('gemini', 'models/gemini-2.5-pro'));
    for (const name of ['gpt-5-pro', 'gpt', 'gpt-5-', 'ft:gpt-4o', 'GPT-5', 'gpt-5-20', ''])
      assert.ok(!shipped.lists('openai', name), name);
    assert.ok(!shipped.lists('anthropic', 'gpt-5'), 'a vendor lists its own models only');
    assert.ok(!shipped.lists('openai', '__proto__'));
  });

  test('a snapshot with its own price has precedence over the undated name', () => {
    const book = createPriceBook({
      book: bookOf(plainEntry(), plainEntry({ model: 'm-1-2026-02-02', tiers: [{ inputAbove: 0, prices: { input: '7', output: '7' } }] })),
    });
    assert.equal(book.rate(call('acme', 'm-1-2026-02-02', { inputTokens: 1 })).amountNanoUsd, 7000n);
    assert.equal(book.rate(call('acme', 'm-1-2026-03-03', { inputTokens: 1 })).amountNanoUsd, 2000n);
    assert.deepEqual(modelSpellings('models/m-1-latest'), ['models/m-1-latest', 'm-1-latest', 'm-1']);
  });

  test('models lists each model once, with its earliest release', () => {
    const models = shipped.models('openai');
    assert.equal(new Set(models.map(({ model }) => model)).size, models.length);
    assert.equal(models.find(({ model }) => model === 'gpt-5.6-luna')?.releasedAtMs, Date.UTC(2026, 6, 9));
    assert.deepEqual(shipped.models('nobody'), []);
  });
});

describe('rating', () => {
  test('cache counts are priced separately, and none of them twice', () => {
    const usage = {
      inputTokens: 1000,
      cacheReadTokens: 10_000,
      cacheWrite5mTokens: 100,
      cacheWrite1hTokens: 10,
      outputTokens: 500,
      reasoningTokens: 400,
    };
    const charge = shipped.rate(call('anthropic', 'claude-sonnet-4-5', usage));
    assert.equal(charge.amountNanoUsd, 3_000_000n + 3_000_000n + 375_000n + 60_000n + 7_500_000n);
    assert.equal(charge.priceId, 'anthropic/claude-sonnet-4-5@2025-09-29');
    assert.deepEqual(charge.lines[1], { meter: 'cache_read', quantity: 10_000, unitPrice: '0.3', per: 1_000_000 });
  });

  test('the whole input, cache included, decides the tier of the whole call', () => {
    const rate = (cacheReadTokens: number) =>
      shipped.rate(call('anthropic', 'claude-sonnet-4-5', { inputTokens: 1, cacheReadTokens, outputTokens: 1 }));
    assert.equal(rate(199_999).amountNanoUsd, 3_000n + 199_999n * 300n + 15_000n);
    assert.equal(rate(200_000).amountNanoUsd, 6_000n + 200_000n * 600n + 22_500n);
    const grok = (inputTokens: number) => shipped.rate(call('xai', 'grok-4.3', { inputTokens })).lines[0]?.unitPrice;
    assert.deepEqual([grok(199_999), grok(200_000)], ['1.25', '2.5']);
  });

  test('the price at the moment of acceptance applies, to the millisecond', () => {
    const at = (acceptedAt: number) =>
      shipped.rate(call('openai', 'gpt-5.6-luna', { inputTokens: 1_000_000 / 4 }, { acceptedAtMs: acceptedAt }));
    const change = Date.UTC(2026, 6, 30);
    assert.equal(at(change - 1).amountNanoUsd, 250_000_000n);
    assert.equal(at(change).amountNanoUsd, 50_000_000n);
    assert.equal(at(change).priceId, 'openai/gpt-5.6-luna@2026-07-30');
    assert.deepEqual(at(Date.UTC(2020, 0, 1)), { amountNanoUsd: 0n, lines: [] }, 'there is no price before the first window');
  });

  test('the used service tier multiplies tokens, never fees; an unknown one costs the list price', () => {
    const usage = { inputTokens: 1_000_000, webSearches: 2 };
    const rate = (serviceTier?: string) =>
      shipped.rate(call('openai', 'gpt-5.4', usage, serviceTier === undefined ? {} : { serviceTier })).amountNanoUsd;
    const long = 5_000_000_000n;
    assert.equal(rate(), long + 20_000_000n);
    assert.equal(rate('default'), long + 20_000_000n);
    assert.equal(rate('flex'), long / 2n + 20_000_000n);
    assert.equal(rate('PRIORITY'), long * 2n + 20_000_000n);
    assert.equal(rate('toString'), long + 20_000_000n);
    const { lines } = shipped.rate(call('openai', 'gpt-5.4', usage, { serviceTier: 'flex' }));
    assert.deepEqual(lines[0]?.multipliers, { 'service_tier:flex': '0.5' });
    assert.equal(lines[1]?.multipliers, undefined);
  });

  test('audio has the audio price of the vendor if there is one, and else the price of text', () => {
    const usage = {
      inputTokens: 100,
      inputAudioTokens: 40,
      cacheReadTokens: 50,
      cacheReadAudioTokens: 10,
      outputTokens: 5,
      outputAudioTokens: 5,
    };
    const lines = shipped.rate(call('gemini', 'gemini-3-flash-preview', usage)).lines.map(({ meter, quantity }) => [meter, quantity]);
    assert.deepEqual(lines, [
      ['input', 60],
      ['input_audio', 40],
      ['cache_read', 40],
      ['cache_read_audio', 10],
      ['output', 5],
    ]);
    const text = shipped.rate(call('openai', 'gpt-5.4', usage)).lines.map(({ meter, quantity }) => [meter, quantity]);
    assert.deepEqual(text, [
      ['input', 100],
      ['cache_read', 50],
      ['output', 5],
    ]);
    const absurd = shipped.rate(call('gemini', 'gemini-2.5-flash', { inputTokens: 5, inputAudioTokens: 9 }));
    assert.deepEqual(
      absurd.lines.map(({ quantity }) => quantity),
      [5],
      'audio never exceeds the tokens that include it',
    );
  });

  test('searches: per search, or once per grounded prompt', () => {
    const fee = (model: string, webSearches: number) => shipped.rate(call('gemini', model, { webSearches })).amountNanoUsd;
    assert.equal(fee('gemini-3.5-flash', 3), 42_000_000n);
    assert.equal(fee('gemini-2.5-flash', 3), 35_000_000n);
    assert.equal(fee('gemini-2.5-flash', 0), 0n);
  });

  test('cached input without its own price costs as much as input', () => {
    const book = createPriceBook({ book: bookOf(plainEntry()) });
    const usage = { cacheReadTokens: 1, cacheWrite5mTokens: 1, cacheWrite1hTokens: 1 };
    assert.equal(book.rate(call('acme', 'm-1', usage)).amountNanoUsd, 6000n);
  });

  test('unlisted models and empty usage cost nothing, and only a listed model has a price id', () => {
    assert.deepEqual(shipped.rate(call('openai', 'my-own', { inputTokens: 5 })), { amountNanoUsd: 0n, lines: [] });
    const unused = shipped.rate(call('openai', 'gpt-5', {}));
    assert.deepEqual([unused.amountNanoUsd, unused.lines.length, unused.priceId], [0n, 0, 'openai/gpt-5@2025-08-07']);
  });

  test('B15: a price of another meter does not price the usage, and is not named', () => {
    for (const [model, usage] of [
      ['whisper-1', { inputTokens: 10, outputTokens: 5 }],
      ['tts-1', { inputAudioMs: 60_000 }],
      ['gpt-4.1', { outputVideoMs: 4000 }],
    ] as const)
      assert.deepEqual(shipped.rate(call('openai', model, usage)), { amountNanoUsd: 0n, lines: [] }, model);
    const free = createPriceBook({ book: loadShippedPriceBook(), overrides: [{ model: 'own', input: '0', output: '0' }] });
    const charge = free.rate({ ...call('openai-compatible', 'own', { inputTokens: 10 }), requestedModel: 'own' });
    assert.deepEqual([charge.amountNanoUsd, charge.priceId], [0n, 'override/own']);
  });

  test('a charge is rounded once, half up, at the end', () => {
    const prices = { input: '0.0004', output: '0.0005', cacheRead: '0.0001' };
    const book = createPriceBook({ book: bookOf(plainEntry({ tiers: [{ inputAbove: 0, prices }] })) });
    const rate = (usage: Usage) => book.rate(call('acme', 'm-1', usage)).amountNanoUsd;
    assert.equal(rate({ inputTokens: 1 }), 0n);
    assert.equal(rate({ outputTokens: 1 }), 1n);
    assert.equal(rate({ inputTokens: 1, cacheReadTokens: 1 }), 1n, '0.4 and 0.1 are not rounded separately');
    assert.equal(rate({ inputTokens: 3, outputTokens: 1 }), 2n, '1.7');
  });

  test('an impossible quantity is an error and not a charge', () => {
    for (const quantity of [-1, 0.5, Number.NaN, Infinity, 2 ** 53]) {
      assert.throws(() => recomputeAmount([{ meter: 'input', quantity, unitPrice: '1', per: 1 }]), RangeError);
    }
    for (const unitPrice of ['-1', '1e3', '', '1.', '.5', '0x1', ' 1']) {
      assert.throws(() => recomputeAmount([{ meter: 'input', quantity: 1, unitPrice, per: 1 }]), RangeError);
    }
    assert.throws(() => recomputeAmount([{ meter: 'input', quantity: 1, unitPrice: '1', per: 0 }]), RangeError);
  });
});

describe('overrides', () => {
  const override: PriceOverride = { model: 'fast', input: '1', output: '3' };

  test('the operator’s price of the requested model replaces the list price completely, without multipliers', () => {
    const book = createPriceBook({ book: loadShippedPriceBook(), overrides: [override] });
    const usage = { inputTokens: 10, cacheReadTokens: 10, outputTokens: 10, webSearches: 1 };
    const charge = book.rate(call('openai', 'gpt-5.4', usage, { requestedModel: 'fast', serviceTier: 'flex' }));
    assert.equal(
      charge.amountNanoUsd,
      10_000n + 10_000n + 30_000n + 10_000_000n,
      'searches without a price of their own are priced by the list',
    );
    assert.equal(charge.priceId, 'override/fast');
    assert.equal(book.rate(call('openai', 'gpt-5.4', usage)).priceId, 'openai/gpt-5.4@2026-03-06');
  });

  test('an entry that ends in * prices every name that begins so, the longest match first, and `models/` before a name is ignored', () => {
    const overrides = ['*', 'x-*', 'x-large*', 'x-large-9'].map((model, index) => ({ model, input: String(index + 1), output: '0' }));
    const book = createPriceBook({ book: loadShippedPriceBook(), overrides });
    const priced = (requestedModel: string): bigint =>
      book.rate(call('openai-compatible', 'm', { inputTokens: 1 }, { requestedModel })).amountNanoUsd / 1000n;
    assert.deepEqual(['y', 'x-small', 'x-large-1', 'x-large-9', 'models/x-large-9', 'models/x-1'].map(priced), [1n, 2n, 3n, 4n, 4n, 2n]);
  });

  test('it prices models that are not in a list', () => {
    const book = createPriceBook({ book: loadShippedPriceBook(), overrides: [{ ...override, webSearch: '0.5' }] });
    const charge = book.rate(call('openai-compatible', 'llama', { outputTokens: 1, webSearches: 1 }, { requestedModel: 'fast' }));
    assert.equal(charge.amountNanoUsd, 3_000n + 500_000_000n);
  });

  test('all invalid ones are named', () => {
    const overrides = [{ model: 'a', input: '-1', output: '1,5' }, override, override];
    assert.throws(
      () => createPriceBook({ book: loadShippedPriceBook(), overrides }),
      (error: PriceBookError) => {
        assert.equal(error.problems.length, 3);
        return /of a: input.*of a: output.*of fast is set twice/.test(error.message);
      },
    );
  });

  test('changed content gives another version, and the same content the same version', () => {
    const version = (overrides: PriceOverride[]) => createPriceBook({ book: loadShippedPriceBook(), overrides }).version;
    assert.match(version([]), /^2026-11-27\+[0-9a-f]{8}$/);
    assert.equal(version([override]), version([{ ...override }]));
    assert.equal(new Set([version([]), version([override]), version([{ ...override, input: '2' }])]).size, 3);
  });
});

describe('general rules, over the whole shipped book', () => {
  const tokens = fc.nat(400_000);
  const meters = ['inputTokens', 'cacheReadTokens', 'cacheWrite5mTokens', 'cacheWrite1hTokens', 'outputTokens', 'webSearches'] as const;
  const usages = fc.record({
    inputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWrite5mTokens: tokens,
    cacheWrite1hTokens: tokens,
    outputTokens: tokens,
    webSearches: fc.nat(5),
    inputAudioTokens: tokens,
    reasoningTokens: tokens,
  });
  const entries = loadShippedPriceBook().entries;
  const models = fc.constantFrom(...entries.map(({ vendor, model }) => [vendor, model] as const));
  const tiers = fc.constantFrom(undefined, 'flex', 'batch', 'priority', 'default');

  test('the amount is the sum of its lines, never negative, and does not depend on reasoning', () => {
    fc.assert(
      fc.property(models, usages, tiers, ([vendor, model], usage, serviceTier) => {
        const more = serviceTier === undefined ? {} : { serviceTier };
        const charge = shipped.rate(call(vendor, model, usage, more));
        assert.equal(recomputeAmount(charge.lines), charge.amountNanoUsd);
        assert.ok(charge.amountNanoUsd >= 0n);
        const { reasoningTokens: _, ...plain } = usage;
        assert.equal(shipped.rate(call(vendor, model, plain, more)).amountNanoUsd, charge.amountNanoUsd);
      }),
      { numRuns: 300 },
    );
  });

  test('more of anything never costs less', () => {
    fc.assert(
      fc.property(models, usages, fc.constantFrom(...meters), tokens, ([vendor, model], usage, meter, extra) => {
        const less = shipped.rate(call(vendor, model, usage)).amountNanoUsd;
        const more = shipped.rate(call(vendor, model, { ...usage, [meter]: usage[meter] + extra })).amountNanoUsd;
        assert.ok(more >= less, `${model} ${meter}`);
      }),
      { numRuns: 300 },
    );
  });

  test('disjoint counts add up, and within one tier the price is linear', () => {
    fc.assert(
      fc.property(models, usages, fc.integer({ min: 2, max: 9 }), ([vendor, model], usage, factor) => {
        const rate = (part: Usage) => shipped.rate(call(vendor, model, part));
        // Small enough that no sum of the parts reaches the next tier.
        const small = Object.fromEntries(
          meters.map((meter) => [meter, meter === 'webSearches' ? 0 : Math.floor(usage[meter] / 100)]),
        ) as Usage;
        const whole = rate(small);
        const parts = meters.flatMap((meter) => rate({ [meter]: small[meter] ?? 0 }).lines);
        assert.equal(recomputeAmount(parts), whole.amountNanoUsd);
        const repeated = Array.from({ length: factor }, () => whole.lines).flat();
        const multiplied = whole.lines.map((line) => ({ ...line, quantity: line.quantity * factor }));
        assert.equal(recomputeAmount(repeated), recomputeAmount(multiplied));
      }),
      { numRuns: 200 },
    );
  });
});
