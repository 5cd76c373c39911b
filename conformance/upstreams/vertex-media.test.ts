import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const textModel = 'text-embedding-005';
const laterModel = 'gemini-embedding-2-preview';
const imagen = 'imagen-4.0-generate-001';
const picture = 'gemini-2.5-flash-image';
const models = [textModel, 'gemini-embedding-001', laterModel, 'multimodalembedding@001', imagen, picture, 'veo-3.1-generate-preview'];

/** Embeddings, images and videos of Vertex AI and of the Gemini API, with Google's SDK as judge of the requests. */
describe('embeddings and images of Google’s services', () => {
  let simulator: RunningSimulator;
  let google: NonNullable<RunningSimulator['google']>;
  let weir: ServedWeir;
  let openai: OpenAI;
  let own: GoogleGenAI;
  before(async () => {
    simulator = await startSimulator({ google: { models: { '*': models, 'us-east5': ['text-multilingual-embedding-002'] } } });
    google = simulator.google ?? assert.fail();
    const account = { vendor: 'vertex', baseUrl: google.vertexUrl, project: google.project };
    const credential = { kind: 'google', from: 'metadata', metadataUrl: google.identityUrl };
    weir = await serveWeir({
      command: 'gateway',
      config: JSON.stringify({
        upstreams: {
          vertex: { ...account, credential },
          express: { vendor: 'vertex', baseUrl: google.vertexUrl, apiKey: 'AIza-simulated-express-key' },
          gemini: { vendor: 'gemini', baseUrl: simulator.addresses.gemini, apiKey: 'simulated' },
        },
        models: {
          ...Object.fromEntries(models.map((name) => [name, { targets: [{ upstream: 'vertex' }] }])),
          'far-embedding': { targets: [{ upstream: 'vertex', model: 'text-multilingual-embedding-002' }], kind: 'embeddings' },
          'express-embedding': { targets: [{ upstream: 'express', model: textModel }], kind: 'embeddings' },
          'gemini-api-embedding': { targets: [{ upstream: 'gemini', model: 'gemini-embedding-001' }], kind: 'embeddings' },
          'gemini-api-imagen': { targets: [{ upstream: 'gemini', model: imagen }] },
        },
        retries: { attemptsMax: 1, avoidFailing: false },
      }),
    });
    openai = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
    own = new GoogleGenAI({
      vertexai: true,
      project: google.project,
      location: 'global',
      httpOptions: { baseUrl: google.vertexUrl },
      googleAuthOptions: {
        authClient: {
          getRequestHeaders: async () => new Headers({ authorization: `Bearer ${google.tokens.issue('sdk').token}` }),
        } as never,
      },
    });
  });
  after(async () => {
    await weir?.[Symbol.asyncDispose]();
    await simulator.close();
  });
  beforeEach(() => {
    google.vertex.requests.length = 0;
    Object.assign(google.vertex, { isDisabled: false, throttledCalls: 0 });
  });
  const sent = () => google.vertex.requests.at(-1) ?? assert.fail('no request came');
  const sentBody = () => JSON.parse(sent().body.toString()) as Record<string, unknown>;
  const receiptOf = async ({ headers }: Response): Promise<string> => {
    const answer = await fetch(`${weir.gatewayUrl}${headers.get('x-weir-receipt')}`, { headers: { 'x-api-key': weir.apiKey } });
    assert.equal(answer.status, 200);
    return await answer.text();
  };

  test('embeddings: request and vectors are those of Google’s SDK', async () => {
    const texts = ['the weir', 'a river with a weir'];
    for (const [model, contents] of [
      [textModel, texts],
      ['gemini-embedding-001', texts.slice(0, 1)],
      [laterModel, texts.slice(0, 1)],
    ] as const) {
      const config = { outputDimensionality: 32, autoTruncate: false };
      const straight = await own.models.embedContent({ model, contents: [...contents], config });
      const asked = { url: sent().url, body: sentBody() };
      const { data, usage } = await openai.embeddings.create({ model, input: [...contents], dimensions: 32 });
      assert.equal(sent().url, asked.url);
      assert.deepEqual(sentBody(), asked.body);
      // The SDK asks for base64, which has the precision of 32 bits.
      assert.deepEqual(
        data.map(({ embedding }) => embedding),
        straight.embeddings?.map(({ values }) => Array.from(Float32Array.from(values ?? []))),
      );
      const tokens = straight.embeddings?.reduce((sum, { statistics }) => sum + Number(statistics?.tokenCount), 0);
      assert.equal(usage.prompt_tokens, tokens);
      assert.ok(usage.prompt_tokens > 0);
    }
  });

  test('embeddings: a dropped field is named, and what cannot be sent is refused without a request', async () => {
    const { response } = await openai.embeddings.create({ model: textModel, input: 'a', user: 'someone' }).withResponse();
    assert.match(response.headers.get('x-gateway-warning') ?? '', /user/);
    google.vertex.requests.length = 0;
    for (const asked of [
      { model: laterModel, input: ['a', 'b'] },
      { model: textModel, input: [1, 2, 3] },
    ])
      await assert.rejects(openai.embeddings.create(asked), { status: 400, param: 'input' });
    assert.equal(google.vertex.requests.length, 0);
  });

  test('embeddings: a text that is too long is refused and never cut', async () => {
    const input = 'word '.repeat(3000);
    await assert.rejects(openai.embeddings.create({ model: textModel, input }), { status: 400, message: /token count/ });
  });

  test('embeddings: the multimodal model, express mode and the Gemini API', async () => {
    const { data } = await openai.embeddings.create({ model: 'multimodalembedding@001', input: 'the weir', dimensions: 128 });
    assert.equal(data[0]?.embedding.length, 128);
    await openai.embeddings.create({ model: 'express-embedding', input: 'a' });
    assert.equal(sent().url, `/v1beta1/publishers/google/models/${textModel}:predict`);
    const { data: vectors, usage } = await openai.embeddings.create({ model: 'gemini-api-embedding', input: ['a b', 'c'], dimensions: 16 });
    assert.deepEqual([vectors.length, vectors[0]?.embedding.length], [2, 16]);
    assert.ok(usage.prompt_tokens > 0);
  });

  test('embeddings: tokens are metered, and the usual faults are refusals', async () => {
    const { data, response } = await openai.embeddings.create({ model: 'gemini-embedding-001', input: 'the weir' }).withResponse();
    // 0.15 USD for a million tokens.
    assert.match(await receiptOf(response), new RegExp(`"nano_usd":"${data.usage.prompt_tokens * 150}"`));
    await assert.rejects(openai.embeddings.create({ model: 'far-embedding', input: 'a' }), { status: 404, code: 'model_not_found' });
    google.vertex.isDisabled = true;
    await assert.rejects(openai.embeddings.create({ model: textModel, input: 'a' }), {
      status: 503,
      code: 'upstream_credentials_rejected',
    });
    google.vertex.isDisabled = false;
    google.vertex.throttledCalls = 1;
    await assert.rejects(openai.embeddings.create({ model: textModel, input: 'a' }), OpenAI.RateLimitError);
  });

  test('Imagen: request and images are those of Google’s SDK', async () => {
    const config = { numberOfImages: 2, aspectRatio: '16:9', imageSize: '2K', outputMimeType: 'image/jpeg', includeRaiReason: true };
    const straight = await own.models.generateImages({ model: imagen, prompt: 'a weir', config });
    const asked = { url: sent().url, body: sentBody() };
    const { data, response } = await openai.images
      .generate({ model: imagen, prompt: 'a weir', n: 2, output_format: 'jpeg', aspect_ratio: '16:9', resolution: '2k' } as never)
      .withResponse();
    assert.equal(sent().url, asked.url);
    assert.deepEqual(sentBody(), asked.body);
    assert.deepEqual(
      data.data?.map(({ b64_json: bytes }) => bytes),
      straight.generatedImages?.map(({ image }) => image?.imageBytes),
    );
    assert.match(await receiptOf(response), /"nano_usd":"80000000"/);
  });

  test('images that the vendor filtered are a refusal of the content', async () => {
    for (const model of [imagen, picture, 'gemini-api-imagen'])
      await assert.rejects(openai.images.generate({ model, prompt: 'a weir [[simulator stop=content-filter]]' }), {
        status: 400,
        code: 'moderation_blocked',
      });
  });

  test('Gemini’s own images: by the images interface, and as parts of a chat', async () => {
    const made = await openai.images.generate({ model: picture, prompt: 'a weir' });
    assert.ok(made.data?.[0]?.b64_json);
    assert.match(sent().url, /publishers\/google\/models\/gemini-2\.5-flash-image:generateContent$/);
    const client = new GoogleGenAI({ apiKey: weir.apiKey, httpOptions: { baseUrl: weir.gatewayUrl } });
    const request = { model: picture, contents: 'a weir', config: { responseModalities: ['IMAGE'] } };
    const reply = await client.models.generateContent(request);
    const straight = await own.models.generateContent(request);
    assert.equal(reply.data?.length, straight.data?.length);
    assert.ok(reply.data);
  });
});
