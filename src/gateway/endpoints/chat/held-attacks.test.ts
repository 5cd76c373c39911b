import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { ApiKey } from '../../../accounts/api-key.ts';
import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects, upstreamDialects } from '../../../dialects/registry.ts';
import { createTranslationNotes } from '../../../inference/translation-notes.ts';
import type { PricingParameters, Usage } from '../../../inference/usage.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { readPrices } from '../../attempts/books/open-attempt.ts';
import { fakeUpstream } from '../../attempts/routing/testing/fake-routing.ts';
import { createRoutingTable } from '../../attempts/routing/routing-table.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { coverAttempt, takeChatCredit } from './chat-credit.ts';
import { defaultCredits } from '../../settings/call-settings.ts';
import { FakeDesk } from '../../admission/credits/testing/fake-desk.ts';

const priceBook = createPriceBook({ book: loadShippedPriceBook() });
const caller: ApiKey = {
  id: 'k',
  userId: 'u',
  userName: 'ann',
  name: 'ci',
  hint: '',
  createdAtMs: 0,
  strictTranslation: false,
  userLimits: { prepaid: true },
};
const acceptedAtMs = Date.UTC(2026, 10, 1);
const targetOf = (vendor: VendorId, upstreamModel: string): Target => ({ upstream: fakeUpstream(vendor, vendor), upstreamModel });

const gpt = targetOf('openai', 'gpt-4.1');
const gpt5 = targetOf('openai', 'gpt-5');
const sonnet = targetOf('anthropic', 'claude-sonnet-4-5');
const opus = targetOf('anthropic', 'claude-opus-5');
const pro = targetOf('gemini', 'gemini-2.5-pro');
const image = targetOf('gemini', 'gemini-2.5-flash-image');

/** A request that attempts to spend more than is held, and the most that its answer then uses. */
type Attack = {
  readonly dialect: DialectId;
  readonly body: JsonObject;
  readonly targets: readonly Target[];
  /** The target that answers: the first, unless it failed. */
  readonly answers?: Target;
  readonly usage: Usage;
  readonly serviceTier?: string;
  readonly replyParameters?: PricingParameters;
  readonly credits?: Partial<typeof defaultCredits>;
};

const chat = (body: JsonObject, usage: Usage, more: Partial<Attack> = {}): Attack => ({
  dialect: 'openai-chat',
  body: { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body },
  targets: [gpt],
  usage: { inputTokens: 10, ...usage },
  ...more,
});
const messages = (body: JsonObject, usage: Usage, more: Partial<Attack> = {}): Attack => ({
  dialect: 'anthropic-messages',
  body: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...body },
  targets: [sonnet],
  usage: { inputTokens: 10, outputTokens: 100, ...usage },
  ...more,
});
const contents = (config: JsonObject, usage: Usage, more: Partial<Attack> = {}): Attack => ({
  dialect: 'gemini-generate-content',
  body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: config },
  targets: [pro],
  usage: { inputTokens: 10, ...usage },
  ...more,
});

const long = 'word '.repeat(42_000);
const search = { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 200 }] };

const attacks: Readonly<Record<string, Attack>> = {
  'no bound, a whole reply': chat({}, { outputTokens: 32_768 }),
  'no bound, several replies': chat({ n: 5 }, { outputTokens: 5 * 32_768 }),
  'no bound, with hidden reasoning': chat({}, { outputTokens: 128_000, reasoningTokens: 127_000 }, { targets: [gpt5] }),
  'no bound, a stream with hidden reasoning': chat(
    { stream: true },
    { outputTokens: 128_000, reasoningTokens: 127_000 },
    { targets: [gpt5], credits: { coversUnbounded: 'reasoning' } },
  ),
  'no bound, translated for a vendor that requires one': chat({}, { outputTokens: 64_000 }, { targets: [sonnet] }),
  'a huge bound': chat({ max_tokens: 9_007_199_254_740_991 }, { outputTokens: 32_768 }),
  'two bounds': chat({ max_completion_tokens: 1, max_tokens: 30_000 }, { outputTokens: 30_000 }),
  'several replies': chat({ max_tokens: 100, n: 128 }, { outputTokens: 12_800 }),
  'several candidates': contents({ maxOutputTokens: 100, candidateCount: 8 }, { outputTokens: 800 }),
  'several candidates, as text and in the other spelling': contents(
    { max_output_tokens: '100', candidate_count: '8' },
    { outputTokens: 800 },
  ),
  'several candidates without a bound': contents({ candidateCount: 4 }, { outputTokens: 4 * 65_536 }),
  'reasoning beside the answer': contents({ maxOutputTokens: 1000 }, { outputTokens: 1000, reasoningTokens: 990 }),
  'a bound that reasoning raises': chat({ max_tokens: 100, reasoning_effort: 'high' }, { outputTokens: 16_000 }, { targets: [sonnet] }),
  'a bound below what the vendor accepts': messages({ max_tokens: 1 }, { outputTokens: 16 }, { targets: [gpt] }),
  'a jump to the tier of long contexts (F14)': messages(
    { messages: [{ role: 'user', content: long }] },
    { inputTokens: 0, cacheReadTokens: 100_001, cacheWrite5mTokens: 100_000 },
  ),
  'all input written to the most expensive cache': messages(
    { messages: [{ role: 'user', content: [{ type: 'text', text: long, cache_control: { type: 'ephemeral', ttl: '1h' } }] }] },
    { inputTokens: 0, cacheWrite1hTokens: 190_000 },
  ),
  'a tier that the reply names and the request did not': chat({ max_tokens: 100 }, { outputTokens: 100 }, { serviceTier: 'priority' }),
  'a tier that is left to the vendor': chat({ max_tokens: 100, service_tier: 'auto' }, { outputTokens: 100 }, { serviceTier: 'priority' }),
  'a tier that another vendor has': messages({ service_tier: 'standard_only' }, {}, { targets: [gpt], serviceTier: 'priority' }),
  'a tier in capitals': chat({ max_tokens: 100, service_tier: 'Priority' }, { outputTokens: 100 }, { serviceTier: 'priority' }),
  'a more expensive region that only the reply names': messages({}, {}, { targets: [opus], replyParameters: { inference_geo: 'us' } }),
  'a faster mode': messages({ speed: 'fast' }, {}, { targets: [opus], replyParameters: { speed: 'fast' } }),
  'images in the reply': contents({ maxOutputTokens: 4000 }, { outputTokens: 4000, outputImageTokens: 3870 }, { targets: [image] }),
  'images in the reply without a bound': contents({}, { outputTokens: 32_768, outputImageTokens: 32_768 }, { targets: [image] }),
  'a more expensive target, after the first has failed': chat(
    { max_tokens: 1000 },
    { outputTokens: 1000 },
    { targets: [targetOf('openai', 'gpt-4o-mini'), opus], answers: opus },
  ),
  'many searches': messages(search, { webSearches: 200 }),
  'text that claims to be an image': messages(
    {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { mime_type: 'image/png', data: long } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
      ],
    },
    { inputTokens: 45_000 },
  ),
  'text in the definition of a tool': messages(
    { tools: [{ name: 'f', input_schema: { type: 'object', properties: { a: { type: 'image', url: long } } } }] },
    { inputTokens: 45_000 },
  ),
  'many images': messages(
    {
      messages: [
        {
          role: 'user',
          content: Array.from({ length: 20 }, () => ({ type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } })),
        },
      ],
    },
    { inputTokens: 20 * 4784 },
  ),
};

/** The amount that is held for a call when its request is sent. */
async function holdFor({ dialect, body, targets, answers, credits }: Attack): Promise<bigint> {
  const desk = new FakeDesk(10n ** 30n);
  const codec = chatDialects[dialect];
  const request = { operation: 'generate' as const, headers: { 'anthropic-version': '2023-06-01' }, body, pathModel: 'm' };
  codec.validateRequest(request, 'compatible');
  const facts = codec.readFacts(request);
  const upstreams = targets.map(({ upstream }) => upstream);
  const routing = createRoutingTable({ upstreams, models: [], priceBook, configuredAtMs: 0 });
  const settings = { routing, credits: { ...defaultCredits, ...credits } };
  const call = { settings, caller, facts, targets, framing: facts.stream ? ('sse' as const) : undefined, acceptedAtMs };
  const credit = await takeChatCredit({ credits: desk, clock: systemClock }, { ...call, request, turn: undefined }, () => false);
  const target = answers ?? targets[0];
  assert.ok(credit !== undefined && target !== undefined);
  const { upstream, upstreamModel } = target;
  const upstreamDialect = upstreamDialects[upstream.dialects[0] ?? 'openai-chat'];
  const fit = {
    upstreamModel,
    traits: upstream.traitsOf(upstreamModel),
    proofOrigin: upstream.proofOrigin,
    notes: createTranslationNotes(codec.codec.fieldNames, false),
  };
  const isNative = upstream.dialects.includes(dialect);
  const encoded = isNative ? undefined : upstreamDialect.codec.encodeRequest(codec.codec.decodeRequest(request), fit);
  const sent = Buffer.from(JSON.stringify(encoded?.body ?? body));
  const pricingParameters = readPrices(priceBook, { target, requestedModel: 'm', acceptedAtMs }, sent);
  const plan = encoded === undefined ? {} : { translation: { upstream: upstreamDialect, encoded } };
  assert.equal(await coverAttempt({ ...call, credit }, { target, plan, pricingParameters }), undefined);
  return BigInt(credit.describe().heldNanoUsd ?? '0');
}

describe('M6, M13: no request can spend more than is held', () => {
  for (const [name, attack] of Object.entries(attacks))
    test(`no more than the hold is charged for ${name}`, async () => {
      const held = await holdFor(attack);
      const { targets, answers = targets[0], usage, serviceTier, replyParameters, body } = attack;
      assert.ok(answers);
      const vendor = answers.upstream.vendor.id;
      const called = { vendor, upstreamModel: answers.upstreamModel, requestedModel: 'm', acceptedAtMs };
      const read = readPrices(priceBook, { ...called, target: answers }, Buffer.from(JSON.stringify(body)));
      const { amountNanoUsd } = priceBook.rate({ ...called, usage, serviceTier, pricingParameters: { ...read, ...replyParameters } });
      assert.ok(amountNanoUsd > 0n);
      assert.ok(amountNanoUsd <= held, `${amountNanoUsd} is charged and ${held} was held`);
    });
});

describe('an invalid bound is refused before anything is held', () => {
  for (const [dialect, body] of [
    ['openai-chat', { max_tokens: -1 }],
    ['openai-chat', { max_tokens: 1.5 }],
    ['openai-chat', { max_tokens: '100' }],
    ['openai-chat', { n: -1 }],
    ['openai-chat', { n: 0.5 }],
    ['openai-chat', { n: 1_000_000 }],
    ['anthropic-messages', { max_tokens: -5 }],
    ['anthropic-messages', { max_tokens: 2.5 }],
    ['openai-responses', { max_output_tokens: -1 }],
    ['openai-responses', { max_output_tokens: 20.5 }],
    ['gemini-generate-content', { generationConfig: { maxOutputTokens: -1 } }],
    ['gemini-generate-content', { generationConfig: { maxOutputTokens: 0 } }],
    ['gemini-generate-content', { generationConfig: { maxOutputTokens: 1.5 } }],
    ['gemini-generate-content', { generationConfig: { candidateCount: 0 } }],
  ] as const satisfies readonly (readonly [DialectId, JsonObject])[])
    test(`${dialect} refuses ${JSON.stringify(body)}`, () => {
      const plain = {
        model: 'm',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'hi' }],
        input: 'hi',
        contents: [{ parts: [{ text: 'hi' }] }],
      };
      const request = {
        operation: 'generate' as const,
        headers: { 'anthropic-version': '2023-06-01' },
        pathModel: 'm',
        body: { ...plain, ...body },
      };
      assert.throws(() => chatDialects[dialect].validateRequest(request, 'compatible'), { class: 'invalid_request' });
    });
});
