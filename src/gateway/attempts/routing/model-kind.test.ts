import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import { readPrices } from '../books/open-attempt.ts';
import { alwaysHealthy } from '../health/health.ts';
import type { ModelKind } from '../../../inference/interfaces.ts';
import { rankTargets } from './rank-targets.ts';
import { createRoute } from './routing-table.ts';
import type { Target } from './target.ts';
import { modelKindsOf } from '../../../upstreams/model-kind-rules.ts';
import { upstreamVendors } from '../../../upstreams/registry.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';

const target = (vendor: VendorId, upstreamModel: string): Target =>
  ({ upstreamModel, upstream: { id: vendor, vendor: upstreamVendors[vendor], dialects: [] } }) as unknown as Target;

/** The targets that an endpoint of a kind would use. */
function keepKind(targets: readonly Target[], kind: ModelKind, requestedModel: string): readonly Target[] {
  return rankTargets({
    table: { routeOf: () => createRoute({ targets }), models: [] },
    dialect: undefined,
    facts: { requestedModel, stream: false, inputCharacters: 0, needs: [] },
    request: { operation: 'generate', body: {}, headers: {} },
    caller: { userId: 'user' },
    kind,
    health: alwaysHealthy,
    nowMs: 0,
    random: () => 0,
  });
}

test('B15: a model of another kind than its endpoint is refused if its vendor is known, and no other is', () => {
  for (const [vendor, model, kind] of [
    ['openai', 'tts-1', 'transcription'],
    ['openai', 'gpt-4o-mini-tts', 'transcription'],
    ['openai', 'whisper-1', 'speech'],
    ['openai', 'gpt-4o-transcribe', 'speech'],
    ['openai', 'gpt-4.1', 'speech'],
    ['openai', 'o4-mini', 'video'],
    ['xai', 'grok-4.3', 'video'],
    ['openai', 'gpt-4.1', 'embeddings'],
    ['openai', 'gpt-4.1', 'image'],
    ['gemini', 'gemini-2.5-flash', 'image'],
    ['gemini', 'gemini-2.5-flash-image', 'embeddings'],
    ['openai', 'gpt-4.1', 'moderation'],
    ['openai', 'text-embedding-3-small', 'rerank'],
  ] as const)
    assert.throws(
      () => keepKind([target(vendor, model)], kind, model),
      (error) => error instanceof GatewayError && error.status === 400 && error.param === 'model' && error.message.includes(model),
      `${model} for ${kind}`,
    );
  for (const [vendor, model, kind] of [
    ['openai', 'tts-1-hd', 'speech'],
    ['openai', 'whisper-1', 'transcription'],
    ['openai', 'sora-2', 'video'],
    ['xai', 'grok-imagine-video', 'video'],
    ['openai', 'text-embedding-3-small', 'embeddings'],
    ['openai', 'gpt-image-1.5', 'image'],
    ['gemini', 'imagen-4.0-generate-001', 'image'],
    ['gemini', 'gemini-3-pro-image-preview', 'image'],
    ['xai', 'grok-imagine-image', 'image'],
    ['openai', 'something-new', 'speech'],
    ['openai-compatible', 'gpt-4.1', 'video'],
  ] as const)
    assert.equal(keepKind([target(vendor, model)], kind, model).length, 1, `${model} for ${kind}`);
  const mixed = [target('openai', 'gpt-4.1'), target('openai', 'tts-1')];
  assert.deepEqual(keepKind(mixed, 'speech', 'mine'), [mixed[1]]);
});

test('B15: a chat endpoint refuses a model of another kind and names its endpoint, unless its operator sets the kind', () => {
  for (const [vendor, model, endpoint] of [
    ['openai', 'text-embedding-3-small', '/v1/embeddings'],
    ['gemini', 'gemini-embedding-001', '/v1/embeddings'],
    ['openai', 'omni-moderation-latest', '/v1/moderations'],
    ['openai', 'tts-1', '/v1/audio/speech'],
    ['openai', 'gpt-4o-transcribe', '/v1/audio/transcriptions'],
    ['openai', 'sora-2', '/v1/videos'],
    ['gemini', 'veo-3.1-generate-preview', '/v1/videos'],
    ['xai', 'grok-imagine-video', '/v1/videos'],
    ['openai', 'gpt-image-1', '/v1/images/generations'],
  ] as const) {
    assert.throws(
      () => keepKind([target(vendor, model)], 'chat', model),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'no_suitable_target' &&
        error.status === 400 &&
        error.param === 'model' &&
        error.message.includes(model) &&
        error.message.includes(endpoint),
      `${vendor}/${model}`,
    );
    const listed = { ...target(vendor, model), kind: 'chat' } as const;
    assert.deepEqual(keepKind([listed], 'chat', model), [listed]);
  }
  for (const [vendor, model] of [
    ['openai', 'gpt-4o-audio-preview'],
    ['gemini', 'gemini-2.5-flash-preview-tts'],
    ['gemini', 'gemini-2.5-flash-image'],
    ['openai-compatible', 'text-embedding-3-small'],
    ['openai', 'something-new'],
  ] as const)
    assert.equal(keepKind([target(vendor, model)], 'chat', model).length, 1, `${vendor}/${model}`);
  const speaks = { ...target('openai', 'gpt-6-speaks'), kind: 'speech' } as const;
  assert.deepEqual(keepKind([speaks], 'speech', 'mine'), [speaks]);
  assert.throws(() => keepKind([speaks], 'chat', 'mine'), { code: 'no_suitable_target' });
});

test('B15: every shipped price is of a model of known kind, in the unit that models of that kind are charged by', () => {
  const priceBook = createPriceBook({ book: loadShippedPriceBook(), unlisted: 'refuse' });
  const uses: Readonly<Partial<Record<ModelKind, readonly Usage[]>>> = {
    speech: [{ inputCharacters: 1 }, {}],
    transcription: [{ inputAudioMs: 1 }, {}],
    video: [{ outputVideoMs: 1 }],
    image: [{ outputImages: 1 }, {}],
  };
  for (const vendor of ['anthropic', 'openai', 'gemini', 'xai'] as const)
    for (const { model } of priceBook.models(vendor)) {
      const kinds = modelKindsOf(upstreamVendors[vendor], model);
      assert.ok(kinds, `${vendor}/${model}`);
      const charged = kinds.flatMap((kind) => uses[kind] ?? [{}]);
      const call = { vendor, upstreamModel: model, requestedModel: model, acceptedAtMs: Date.UTC(2030, 0, 1) };
      assert.ok(
        charged.some((used) => priceBook.prices(call, used)),
        `${vendor}/${model} as a model of ${kinds.join()}`,
      );
    }
});

test('B15: if calls without a price are refused, the unit of a call must have a price, not only its model', () => {
  const priceBook = createPriceBook({ book: loadShippedPriceBook(), unlisted: 'refuse' });
  const ask = (vendor: VendorId, model: string, uses: object) => () =>
    readPrices(priceBook, { target: target(vendor, model), requestedModel: model, acceptedAtMs: Date.UTC(2030, 0, 1), uses }, undefined);
  for (const [vendor, model, uses, words] of [
    ['openai', 'tts-1', { inputAudioMs: 1 }, /for minutes of audio/],
    ['openai', 'gpt-4.1', { outputVideoMs: 1 }, /for seconds of video/],
    ['openai', 'whisper-1', { inputCharacters: 1 }, /for characters that are read out/],
    ['openai', 'whisper-1', {}, /for tokens/],
  ] as const)
    assert.throws(
      ask(vendor, model, uses),
      (error) => error instanceof GatewayError && error.code === 'model_not_priced' && words.test(error.message),
    );
  ask('openai', 'tts-1', { inputCharacters: 1 })();
  ask('openai', 'whisper-1', { inputAudioMs: 1 })();
  ask('openai', 'gpt-4.1', {})();
});
