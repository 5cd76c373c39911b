import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';

import type { PricingParameters, Usage } from '../../inference/usage.ts';
import { loadShippedPriceBook } from './load-shipped-price-book.ts';
import { createPriceBook } from './price-book.ts';
import { acceptedAtMs, bookOf, callOf, plainEntry } from './testing/price-book-kit.ts';
import type { PlannedCall, PriceBook } from './rating.ts';

type MutableUsage = { -readonly [Name in keyof Usage]?: number };

const inputNames = ['inputTokens', 'cacheReadTokens', 'cacheWrite5mTokens', 'cacheWrite1hTokens'] as const;
const pieceNames = [
  'webSearches',
  'webFetches',
  'fileSearches',
  'toolCalls',
  'codeSessions',
  'inputCharacters',
  'inputAudioMs',
  'outputAudioMs',
  'outputVideoMs',
  'inputImages',
  'outputImages',
  'searchUnits',
] as const;

const share = fc.double({ min: 0, max: 1, noNaN: true });
const shares = fc.array(share, { minLength: 25, maxLength: 25 });

/** A usage within the bounds: any part of the input in any cache, parts of any kind, fewer of everything. */
function within(most: Usage, parts: readonly number[]): Usage {
  let at = 0;
  const take = (all: number): number => Math.floor(all * (parts[at++] ?? 0));
  const usage: MutableUsage = {};
  let left = inputNames.reduce((sum, name) => sum + (most[name] ?? 0), 0);
  for (const name of inputNames) {
    usage[name] = (parts[at] ?? 0) > 0.9 ? left : take(left);
    left -= usage[name];
  }
  usage.inputAudioTokens = take(usage.inputTokens ?? 0);
  usage.inputImageTokens = take(usage.inputTokens ?? 0);
  usage.cacheReadAudioTokens = take(usage.cacheReadTokens ?? 0);
  usage.cacheReadImageTokens = take(usage.cacheReadTokens ?? 0);
  usage.outputTokens = take(most.outputTokens ?? 0);
  usage.outputAudioTokens = take(usage.outputTokens);
  usage.outputImageTokens = take(usage.outputTokens);
  usage.reasoningTokens = take(usage.outputTokens);
  for (const name of pieceNames) usage[name] = take(most[name] ?? 0);
  return usage;
}

const count = fc.nat(500_000);
const mosts: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: count,
    cacheReadTokens: count,
    outputTokens: count,
    ...Object.fromEntries(pieceNames.map((name) => [name, fc.nat(20_000)])),
  },
  { requiredKeys: [] },
);
const serviceTiers = fc.constantFrom(undefined, 'auto', 'default', 'flex', 'priority', 'batch', 'Priority');
const resolutions = fc.constantFrom(undefined, '480p', '720p', '1080p', '8k', '__proto__');

/** Whether a vendor may answer with a tier that differs from the requested one: it may decline a named tier. */
function mayAnswer(requested: string | undefined, answered: string | undefined): boolean {
  return (
    requested === undefined ||
    requested === 'auto' ||
    answered === undefined ||
    answered === 'default' ||
    requested.toLowerCase() === answered.toLowerCase()
  );
}

function assertHeld(
  book: PriceBook,
  plan: PlannedCall,
  usage: Usage,
  reply: { serviceTier?: string | undefined; words?: PricingParameters },
): void {
  const { minimumNanoUsd, expectedNanoUsd, maximumNanoUsd } = book.bound(plan);
  const { expected: _expected, most: _most, ...call } = plan;
  const charge = book.rate({
    ...call,
    usage,
    serviceTier: reply.serviceTier,
    pricingParameters: { ...plan.pricingParameters, ...reply.words },
  });
  assert.ok(charge.amountNanoUsd <= maximumNanoUsd, `${charge.amountNanoUsd} of ${JSON.stringify(usage)} is held with ${maximumNanoUsd}`);
  assert.ok(minimumNanoUsd <= expectedNanoUsd && expectedNanoUsd <= maximumNanoUsd);
  assert.equal(book.most(plan), maximumNanoUsd, 'the hold equals the maximum of a quote');
}

describe('M13 F14 a hold never covers less than the charge', () => {
  const shipped = loadShippedPriceBook();
  const models = fc.constantFrom(...shipped.entries);
  const book = createPriceBook({ book: shipped, factors: { users: { expensive: '3.5', cheap: '0.1' } } });

  test('at every price of the shipped book, whatever part of the input is cached, whatever its tier, its service tier and its resolution', () => {
    fc.assert(
      fc.property(
        models,
        mosts,
        shares,
        serviceTiers,
        serviceTiers,
        resolutions,
        fc.constantFrom('expensive', 'cheap', 'x'),
        ({ vendor, model, effectiveFrom }, most, parts, requested, answered, resolution, userName) => {
          fc.pre(mayAnswer(requested, answered));
          const call = {
            vendor,
            upstreamModel: model,
            requestedModel: model,
            acceptedAtMs: Date.parse(`${effectiveFrom}T00:00:00Z`),
            userName,
            serviceTier: requested,
            ...(resolution === undefined ? {} : { pricingParameters: { resolution } }),
          };
          const plan = { ...call, most, expected: within(most, parts.toReversed()) };
          assertHeld(book, plan, within(most, parts), { serviceTier: answered, words: { speed: 'fast', inference_geo: 'us' } });
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('at prices that fall with more input, with values of the reply, expressions over counts and requests, and variants', () => {
    const tier = (inputAbove: number, input: string, output: string) => ({
      inputAbove,
      prices: { input, output, cacheRead: '9', reasoning: '30', outputImage: '31', inputAudio: '12' },
    });
    const entry = plainEntry({
      tiers: [tier(0, '8', '20'), tier(100_000, '1', '40'), tier(300_000, '4', '2')],
      media: {
        videoSecond: { '480p': '0.05', '720p': '0.07' },
        outputImage: '0.04',
        searchUnit: '0.002',
        outputAudioMinute: '0.6',
        characters: '15',
      },
      fees: {
        call: '0.001',
        web_search: '0.01',
        grounded_prompt: '0.035',
        file_search: '0.0025',
        tool_call: '0.005',
        code_session: '0.03',
      },
      serviceTiers: { flex: '0.5', priority: '2', batch: '0.25' },
      multipliers: [
        { name: 'fast', when: '/speed == "fast" and (speed ?? "fast") == "fast"', factor: '6' },
        { name: 'geo', when: 'inference_geo == "us"', factor: '1.1', of: 'all' },
        { name: 'less', when: 'output_tokens > 1000', factor: '0.5', of: 'all' },
        { name: 'steps', factor: '1 + min(/metadata/steps ?? 10, 100) / 50', of: 'all' },
        { name: 'long', factor: 'output_tokens > 50000 ? 3 - output_tokens / 1000000 : 1' },
      ],
      lines: [
        {
          meter: 'hd_second',
          when: '/metadata/quality in ["hd", "4k"]',
          quantity: 'output_video_seconds * (/metadata/fps ?? 24) / 24',
          price: '0.02',
        },
        { meter: 'unused', quantity: '100000 - total_input_tokens', price: '1', per: 1000 },
        {
          meter: 'mixed',
          when: 'not (service_tier == "flex" or web_searches > 3)',
          quantity: 'web_searches * (10 - file_searches)',
          price: '0.1',
        },
      ],
    });
    const variant = {
      ...entry,
      variant: 'night',
      when: 'output_tokens < 2000 or /metadata/night == true',
      tiers: [tier(0, '80', '90')],
      fees: {},
    };
    const book_ = createPriceBook({ book: bookOf(variant, entry) });
    const texts = fc.constantFrom('"fast"', '"hd"', '"4k"', '"15"', 'true', 'null', '1e1', '48', '-5', '[2]', '1000000');
    const parameters = fc.dictionary(
      fc.constantFrom('/speed', '/metadata/steps', '/metadata/quality', '/metadata/fps', '/metadata/night'),
      texts,
    );
    const words = fc.dictionary(fc.constantFrom('speed', 'inference_geo'), fc.constantFrom('fast', 'standard', 'us', 'global'));
    fc.assert(
      fc.property(
        mosts,
        shares,
        serviceTiers,
        serviceTiers,
        parameters,
        words,
        (most, parts, requested, answered, pricingParameters, replyValues) => {
          fc.pre(mayAnswer(requested, answered));
          const { usage: _usage, ...call } = callOf({}, { serviceTier: requested, pricingParameters });
          const usage = within(most, parts);
          assertHeld(book_, { ...call, most, expected: within(most, parts.toReversed()) }, usage, {
            serviceTier: answered,
            words: replyValues,
          });
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('F14 a hold covers the tier of the highest input, and a lower one if that costs more', () => {
    const tiers = (first: string, second: string) => [
      { inputAbove: 0, prices: { input: first, output: '0' } },
      { inputAbove: 1000, prices: { input: second, output: '0' } },
    ];
    const maximum = (first: string, second: string, inputTokens: number) =>
      createPriceBook({ book: bookOf(plainEntry({ tiers: tiers(first, second) })) }).bound({
        ...callOf({}),
        expected: {},
        most: { inputTokens },
      }).maximumNanoUsd;
    assert.equal(maximum('1', '3', 1000), 1_000_000n);
    assert.equal(maximum('1', '3', 1001), 3_003_000n);
    assert.equal(maximum('3', '1', 1001), 3_003_000n);
  });

  test('a hold covers a requested service tier, and the most expensive one if the vendor may choose', () => {
    const book_ = createPriceBook({ book: bookOf(plainEntry({ serviceTiers: { flex: '0.5', priority: '2', extra: '1.5' } })) });
    const maximum = (serviceTier: string | undefined) =>
      book_.bound({ ...callOf({}), serviceTier, expected: {}, most: { outputTokens: 1_000_000 } }).maximumNanoUsd / 1_000_000_000n;
    assert.deepEqual(['default', 'flex', 'extra', 'priority', 'PRIORITY', 'auto', undefined].map(maximum), [
      10n,
      10n,
      15n,
      20n,
      20n,
      20n,
      20n,
    ]);
  });

  test('the minimum is the cost of an answer without usage, and a model without a price needs no hold', () => {
    const book_ = createPriceBook({ book: bookOf(plainEntry({ fees: { call: '0.5' } })) });
    const bounds = book_.bound({ ...callOf({}), expected: { outputTokens: 100_000 }, most: {} });
    assert.deepEqual(bounds, { minimumNanoUsd: 500_000_000n, expectedNanoUsd: 1_500_000_000n, maximumNanoUsd: 1_500_000_000n });
    assert.deepEqual(book_.bound({ ...callOf({}), vendor: 'nobody', expected: { outputTokens: 5 }, most: { outputTokens: 5 } }), {
      minimumNanoUsd: 0n,
      expectedNanoUsd: 0n,
      maximumNanoUsd: 0n,
    });
    assert.equal(book_.rate(callOf({})).amountNanoUsd, 0n, 'a call without usage costs no fee');
  });

  test('a price of the operator’s own bounds its calls like any other', () => {
    const book_ = createPriceBook({
      book: bookOf(plainEntry()),
      overrides: [{ model: 'm-1', input: '1', output: '2', cacheWrite1h: '7' }],
    });
    const bounds = book_.bound({ ...callOf({}), acceptedAtMs, expected: {}, most: { inputTokens: 10, outputTokens: 10 } });
    assert.equal(bounds.maximumNanoUsd, 70_000n + 20_000n);
  });
});
