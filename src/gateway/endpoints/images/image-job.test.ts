import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageInput, ImageRequest } from '../../../inference/image.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { AttemptPlan } from '../../attempts/call-job.ts';
import { createFakeUpstream } from '../../attempts/exchange/testing/fake-exchange.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { boundImages } from './bound-images.ts';
import { createImageJob } from './image-job.ts';
import { imagesClient } from './images-client.ts';
import type { LinkImages } from './image-files.ts';

const acceptedAtMs = Date.UTC(2026, 10, 23);
const purchase: Purchase = {
  priceBook: createPriceBook({
    book: loadShippedPriceBook(),
    overrides: [],
  }),
  requestedModel: 'mine',
  acceptedAtMs,
  userName: 'u',
  keyId: 'k',
};
const client = { send: () => {}, close: () => Promise.resolve() };
const targetAt = (vendor: VendorId, upstreamModel: string): Target => ({
  upstream: createFakeUpstream({ vendor, apiKey: 'secret' }, client),
  upstreamModel,
});
const targets = [
  targetAt('openai', 'gpt-image-1.5'),
  targetAt('xai', 'grok-imagine-image'),
  targetAt('gemini', 'gemini-2.5-flash-image'),
  targetAt('gemini', 'imagen-4.0-generate-001'),
];
const plain: ImageRequest = {
  operation: 'generate',
  requestedModel: 'mine',
  prompt: 'a coast',
  count: 1,
  stream: false,
  partialImages: 0,
  sources: [],
  otherFields: {},
};
const upload = (text: string): ImageInput => ({
  kind: 'upload',
  filename: 'a.png',
  mediaType: 'image/png',
  // oxlint-disable-next-line typescript/require-await -- bodies are read by `for await`
  content: {
    bytes: text.length,
    read: async function* () {
      yield Buffer.from(text);
    },
  },
});

const jobOf = (request: ImageRequest, strict = false) =>
  createImageJob({
    callId: 'req_1',
    request,
    client: imagesClient(request),
    clientNotes: [],
    headers: {},
    strict,
    purchase,
    requestBytesMax: 1000,
    admission: { holdBytes: () => true },
  });
async function planAt(target: Target, request: ImageRequest = plain, strict = false): Promise<AttemptPlan> {
  const plan = await jobOf(request, strict).plan(target);
  assert.equal(plan.kind, 'exchange');
  return plan;
}

test('each target gets the request at its own path, with its own credential and model name', async () => {
  const seen = await Promise.all(targets.map(async (target) => (await planAt(target)).upstreamRequest));
  assert.deepEqual(
    seen.map(({ path }) => path),
    [
      '/base/images/generations',
      '/base/images/generations',
      '/base/v1beta/models/gemini-2.5-flash-image:generateContent',
      '/base/v1beta/models/imagen-4.0-generate-001:predict',
    ],
  );
  assert.deepEqual(
    seen.map(({ headers }) => headers['authorization'] ?? headers['x-goog-api-key']),
    ['Bearer secret', 'Bearer secret', 'secret', 'secret'],
  );
  assert.equal((JSON.parse(String(seen[1]?.body)) as { model: string }).model, 'grok-imagine-image');
});

test('each attempt reads an upload again: as a form if the target takes forms, otherwise as base64', async () => {
  const request: ImageRequest = { ...plain, operation: 'edit', sources: [upload('one')] };
  const job = jobOf(request);
  for (const target of [targets[0], targets[2], targets[0]]) {
    const plan = (await job.plan(target as Target)) as AttemptPlan;
    const { body, streamedBody, headers } = plan.upstreamRequest;
    const sent = streamedBody === undefined ? String(body) : Buffer.concat(await Array.fromAsync(streamedBody.read())).toString();
    assert.ok(sent.includes(streamedBody === undefined ? Buffer.from('one').toString('base64') : '\r\n\r\none\r\n'), sent);
    assert.match(String(headers['content-type']), streamedBody === undefined ? /json/ : /multipart/);
  }
});

test('uploads that are too large for JSON are refused, and the same form goes to a target that takes forms', async () => {
  const request: ImageRequest = { ...plain, operation: 'edit', sources: [upload('x'.repeat(1001))] };
  await assert.rejects(
    planAt(targets[2] as Target, request),
    (error) => error instanceof GatewayError && error.class === 'invalid_request',
  );
  await planAt(targets[0] as Target, request);
});

test('strict translation refuses only targets that do not support a part of the request', async () => {
  const request: ImageRequest = { ...plain, quality: 'high' };
  await assert.rejects(planAt(targets[1] as Target, request, true), { code: 'untranslatable_field', param: 'quality' });
  await planAt(targets[0] as Target, request, true);
  const { translation } = await planAt(targets[1] as Target, request);
  assert.deepEqual([translation?.upstream.id, translation?.notes.list().length], ['xai-images', 1]);
});

const reply = (data: object): unknown => JSON.parse(JSON.stringify(data)) as unknown;
const pictures = { data: [{ b64_json: 'AAAA' }, { b64_json: 'AAAA' }] };

test('the unit that has a price is charged, whatever the upstream reports', async () => {
  const tokens = { input_tokens: 3, output_tokens: 200, total_tokens: 203 };
  const request: ImageRequest = { ...plain, count: 2, quality: 'low', size: { width: 1024, height: 1024 } };
  const usageAt = async (target: Target, usage?: object): Promise<Usage | undefined> =>
    (await planAt(target, request)).relay.readReply(reply({ ...pictures, usage })).usageReport?.usage;
  assert.deepEqual(await usageAt(targets[0] as Target), { outputTokens: 544, outputImageTokens: 544 }, 'tokens that nobody reported');
  assert.deepEqual(await usageAt(targets[0] as Target, tokens), { inputTokens: 3, outputTokens: 200, outputImageTokens: 200 });
  assert.deepEqual(await usageAt(targets[1] as Target, tokens), { outputImages: 2 }, 'tokens of a model that is paid by the picture');
  const own = targetAt('openai-compatible', 'stable-diffusion');
  assert.deepEqual(await usageAt(own), { outputImages: 2 }, 'what nobody has a price for');
  assert.deepEqual(await usageAt(own, tokens), { inputTokens: 3, outputTokens: 200, outputImageTokens: 200 });
});

test('a reply without an image is an error with the reason', async () => {
  const { relay } = await planAt(targets[3] as Target);
  const filtered = reply({ predictions: [{ raiFilteredReason: 'too red' }] });
  assert.throws(() => relay.writeReply(filtered, Buffer.alloc(0)), /too red/);
  const { relay: other } = await planAt(targets[0] as Target);
  assert.throws(() => other.writeReply(reply({ created: 1 }), Buffer.alloc(0)), { code: 'upstream_invalid_reply' });
  assert.ok(other.readReply(reply({ error: { message: 'no' } })).error);
});

test('URLs of a model that returns bytes are links to the gateway, and bytes if the files cannot be stored', async () => {
  const wanted: ImageRequest = { ...plain, count: 2, delivery: 'url' };
  const jobWith = (isKept: boolean) => {
    const link: LinkImages = (images) => ({
      images: images.map(() => ({ content: { kind: 'url', url: 'https://weir.example/a' } })),
      keep: () => Promise.resolve(isKept),
    });
    return createImageJob({
      callId: 'req_1',
      request: wanted,
      client: imagesClient(wanted),
      clientNotes: [],
      headers: {},
      strict: true,
      purchase,
      requestBytesMax: 1000,
      admission: { holdBytes: () => true },
      links: { link, checkRoom: () => Promise.resolve() },
    });
  };
  for (const isKept of [true, false]) {
    const { relay, translation, upstreamRequest } = (await jobWith(isKept).plan(targets[0] as Target)) as AttemptPlan;
    assert.doesNotMatch(String(upstreamRequest.body), /url/);
    assert.deepEqual(
      translation?.notes.list().map(({ kind, field }) => [kind, field]),
      [['emulated', 'response_format']],
    );
    assert.match(relay.writeReply(reply(pictures), Buffer.alloc(0)).toString(), /"data":\[\{"url":"https:\/\/weir.example\/a"\}/);
    const instead = await relay.kept?.();
    assert.equal(instead === undefined, isKept);
    if (!isKept) assert.match(String(instead), /"b64_json":"AAAA"/);
  }
  await assert.rejects(async () => await jobOf(wanted).plan(targets[0] as Target), { param: 'response_format' }, 'nothing keeps files');
  const stream = createImageJob({
    callId: 'req_1',
    headers: {},
    strict: false,
    purchase,
    requestBytesMax: 1000,
    admission: { holdBytes: () => true },
    request: { ...wanted, stream: true },
    client: imagesClient({ ...wanted, stream: true }),
    clientNotes: [],
  });
  await assert.rejects(async () => await stream.plan(targets[0] as Target), { param: 'response_format' });
});

test('a hold covers the most that a reply can use, and a report above it is suspicious', () => {
  const request: ImageRequest = { ...plain, count: 3, stream: true, partialImages: 3 };
  for (const target of targets) {
    const { most, expected } = boundImages(request, target);
    const held = boundAtTarget(purchase, target, { most });
    assert.ok(held > 0n, target.upstreamModel);
    const dearest =
      most.outputTokens === undefined ? expected : { ...expected, outputTokens: most.outputTokens, outputImageTokens: most.outputTokens };
    const { amountNanoUsd } = purchase.priceBook.rate({
      ...purchase,
      vendor: target.upstream.vendor.id,
      upstreamModel: target.upstreamModel,
      usage: dearest,
    });
    assert.ok(held >= amountNanoUsd, target.upstreamModel);
    const bound = jobOf(request).bound({ target, plan: {} as AttemptPlan, pricingParameters: undefined });
    assert.equal(bound.isSuspicious(expected, 0n), false, target.upstreamModel);
    assert.equal(bound.isSuspicious({ outputTokens: 1_000_000 }, 0n), true, target.upstreamModel);
  }
});
