import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { GoogleGenAI } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { eventually } from '../support/http.ts';
import { openLedger } from '../support/read-ledger.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

/** An image that the service can read. */
const tinyImage = (): string => 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const textModel = 'text-embedding-005';
const laterModel = 'gemini-embedding-2-preview';
const imagen = 'imagen-4.0-generate-001';
const picture = 'gemini-2.5-flash-image';
const veo = 'veo-3.1-generate-preview';
const models = [textModel, 'gemini-embedding-001', laterModel, 'multimodalembedding@001', imagen, picture, veo];

/** Embeddings, images and videos of Vertex AI and of the Gemini API, with Google's SDK as judge of the requests. */
describe('embeddings, images and videos of Google’s services', () => {
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
          'in-bucket': { ...account, credential, videoBucket: { uri: 'gs://acme-videos/weir', endpoint: google.storage.url } },
          express: { vendor: 'vertex', baseUrl: google.vertexUrl, apiKey: 'AIza-simulated-express-key' },
          gemini: { vendor: 'gemini', baseUrl: simulator.addresses.gemini, apiKey: 'simulated' },
        },
        models: {
          ...Object.fromEntries(models.map((name) => [name, { targets: [{ upstream: 'vertex' }] }])),
          'far-embedding': { targets: [{ upstream: 'vertex', model: 'text-multilingual-embedding-002' }], kind: 'embeddings' },
          'express-embedding': { targets: [{ upstream: 'express', model: textModel }], kind: 'embeddings' },
          'gemini-api-embedding': { targets: [{ upstream: 'gemini', model: 'gemini-embedding-001' }], kind: 'embeddings' },
          'gemini-api-veo': { targets: [{ upstream: 'gemini', model: veo }] },
          'veo-in-bucket': { targets: [{ upstream: 'in-bucket', model: veo }] },
          'far-veo': { targets: [{ upstream: 'vertex', model: 'veo-3.0-generate-001' }] },
          'gemini-api-imagen': { targets: [{ upstream: 'gemini', model: imagen }] },
        },
        tools: { fileSearch: { embeddings: { model: 'gemini-embedding-001' } } },
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
      { model: laterModel, input: [1, 2, 3] },
      { model: textModel, input: [1, 2, 3] },
    ])
      await assert.rejects(openai.embeddings.create(asked), { status: 400, param: 'input' });
    assert.equal(google.vertex.requests.length, 0);
  });

  test('embeddings: a model that takes few texts in a request gets several requests, and the client one reply and one charge', async () => {
    const texts = Array.from({ length: 21 }, (_, index) => `weir number ${index}`);
    for (const [model, requests] of [
      ['gemini-embedding-001', 21],
      [laterModel, 21],
      ['multimodalembedding@001', 21],
      [textModel, 1],
    ] as const) {
      google.vertex.requests.length = 0;
      const { data, response } = await openai.embeddings.create({ model, input: texts, dimensions: 128 }).withResponse();
      assert.equal(google.vertex.requests.length, requests, model);
      assert.deepEqual(
        data.data.map(({ index }) => index),
        texts.map((_, index) => index),
      );
      const alone = await openai.embeddings.create({ model, input: texts[20] ?? '', dimensions: 128 });
      assert.deepEqual(data.data[20]?.embedding, alone.data[0]?.embedding, model);
      const receipt = JSON.parse(await receiptOf(response)) as {
        rows: { usage: { input_tokens: number }; lines: { quantity: number }[] }[];
      };
      assert.equal(receipt.rows.length, 1);
      if (model === 'gemini-embedding-001') assert.equal(receipt.rows[0]?.lines[0]?.quantity, data.usage.prompt_tokens);
    }
    const many = Array.from({ length: 250 }, (_, index) => `text ${index}`);
    const { data } = await openai.embeddings.create({ model: 'gemini-api-embedding', input: many, dimensions: 16 });
    assert.equal(data.length, 250);
  });

  test('embeddings: if one of several requests is refused, the call fails with that refusal and costs nothing', async () => {
    const long = 'word '.repeat(3000);
    await assert.rejects(openai.embeddings.create({ model: 'gemini-embedding-001', input: ['a', long, 'b'] }), {
      status: 400,
      message: /token count/,
    });
    google.vertex.throttledCalls = 1;
    await assert.rejects(openai.embeddings.create({ model: laterModel, input: ['a', 'b', 'c'] }), OpenAI.RateLimitError);
  });

  test('files of several passages are searched by meaning with a model that takes one text per request', async () => {
    const store = await openai.vectorStores.create({});
    const passage = (subject: string): string => `${subject} `.repeat(120);
    const content = ['Mountaineering', 'Bread', 'Rivers', 'Clocks'].map(passage).join('\n\n');
    const chunking = { type: 'static' as const, static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 } };
    const file = await toFile(Buffer.from(content), 'a.txt');
    const options = { pollIntervalMs: 50, chunking_strategy: chunking };
    const uploaded = await openai.files.create({ file, purpose: 'assistants' });
    const indexed = await openai.vectorStores.files.createAndPoll(store.id, { file_id: uploaded.id, chunking_strategy: chunking }, options);
    assert.equal(indexed.status, 'completed', JSON.stringify(indexed.last_error));
    const asked = google.vertex.requests.filter(({ url }) => url.endsWith('/gemini-embedding-001:predict'));
    assert.ok(asked.length > 4, `${asked.length} requests`);
    const found = await openai.vectorStores.search(store.id, { query: 'mountainous' });
    assert.match(found.data[0]?.content[0]?.text ?? '', /Mountaineering/);
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
    const ledger = await openLedger(weir.dataDirectory);
    try {
      const codes = await eventually(
        async () => (await ledger.all()).filter(({ errorCode }) => errorCode === 'upstream_content_filtered'),
        ({ length }) => length >= 3,
      );
      assert.deepEqual(codes.map(({ requestedModel }) => requestedModel).toSorted(), ['gemini-api-imagen', picture, imagen].toSorted());
    } finally {
      await ledger.close();
    }
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

  type Task = { id: string; status: string; seconds?: string; error?: { code: string; message: string } };
  const ask = async (method: string, path: string, body?: object): Promise<Task> => {
    const answer = await fetch(`${weir.gatewayUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const task = (await answer.json()) as Task;
    assert.equal(answer.status, 200, JSON.stringify(task));
    return task;
  };
  const make = async (model: string, script = '', more: object = {}): Promise<Task> => {
    const prompt = `a weir [[simulator video=ms=100${script}]]`;
    const { id } = await ask('POST', '/video/generations', { model, prompt, duration: 4, ...more });
    return await eventually(
      () => ask('GET', `/videos/${id}`),
      ({ status }) => status === 'completed' || status === 'failed',
      60_000,
    );
  };
  const fetchFile = async ({ id }: Task): Promise<Buffer> => {
    const answer = await fetch(`${weir.gatewayUrl}/v1/videos/${id}/content`, { headers: { authorization: `Bearer ${weir.apiKey}` } });
    assert.equal(answer.status, 200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const chargeOf = async ({ id }: Task): Promise<string> => {
    const answer = await fetch(`${weir.gatewayUrl}/v1/videos/${id}/receipt`, { headers: { authorization: `Bearer ${weir.apiKey}` } });
    assert.equal(answer.status, 200);
    return /"nano_usd":"(\d+)"/.exec(await answer.text())?.[1] ?? '';
  };

  test('Veo at Vertex AI: submission, polls and file are those of Google’s SDK', async () => {
    const prompt = 'a weir [[simulator video=ms=100]]';
    const image = { imageBytes: tinyImage(), mimeType: 'image/png' };
    const config = {
      durationSeconds: 4,
      aspectRatio: '9:16',
      resolution: '720p',
      numberOfVideos: 1,
      generateAudio: true,
      negativePrompt: 'rain',
      seed: 5,
    };
    let operation = await own.models.generateVideos({ model: veo, prompt, image, config });
    const asked = { url: sent().url, body: sentBody() };
    operation = await eventually(
      () => own.operations.getVideosOperation({ operation }),
      ({ done }) => done === true,
      30_000,
    );
    const polled = sent().url;
    const task = await make(veo, '', {
      image: `data:image/png;base64,${image.imageBytes}`,
      metadata: { aspect_ratio: '9:16', resolution: '720p', negativePrompt: 'rain', seed: 5 },
    });
    assert.equal(task.status, 'completed', JSON.stringify(task));
    const submitted = google.vertex.requests.filter(({ url }) => url.endsWith(':predictLongRunning')).at(-1);
    assert.equal(submitted?.url, asked.url);
    assert.deepEqual(JSON.parse(submitted?.body.toString() ?? ''), asked.body);
    assert.equal(sent().url, polled);
    const file = await fetchFile(task);
    assert.equal(file.toString('base64'), operation.response?.generatedVideos?.[0]?.video?.videoBytes);
    // Four seconds at 0.40 USD.
    assert.equal(await chargeOf(task), '1600000000');
  });

  test('Veo with a bucket: the video is written there, and fetched with the token, which goes nowhere else', async () => {
    const task = await make('veo-in-bucket');
    assert.equal(task.status, 'completed', JSON.stringify(task));
    const submitted = google.vertex.requests.findLast(({ url }) => url.endsWith(':predictLongRunning'));
    const { parameters } = JSON.parse(submitted?.body.toString() ?? '{}') as { parameters: Record<string, unknown> };
    assert.equal(parameters['storageUri'], 'gs://acme-videos/weir');
    const [uri, stored] = [...google.vertex.objects].at(-1) ?? assert.fail('nothing was written');
    assert.match(uri, /^gs:\/\/acme-videos\/weir\/[^/]+\/sample_0\.mp4$/);
    assert.deepEqual(await fetchFile(task), Buffer.from(stored));
    const [asked] = google.storage.state.requests;
    assert.equal(asked?.url, `/storage/v1/b/acme-videos/o/${encodeURIComponent(uri.replace('gs://acme-videos/', ''))}?alt=media`);
    assert.match(asked?.authorization ?? '', /^Bearer ya29\./);
    assert.equal(await chargeOf(task), '1600000000');
  });

  test('Veo at the Gemini API: the file is fetched with the key', async () => {
    const judge = new GoogleGenAI({ apiKey: 'simulated', httpOptions: { baseUrl: simulator.addresses.gemini } });
    const config = { durationSeconds: 4, aspectRatio: '16:9', resolution: '720p', numberOfVideos: 1 };
    await judge.models.generateVideos({ model: veo, prompt: 'a weir [[simulator video=ms=100]]', config });
    const submissions = () =>
      simulator.records().filter(({ path }) => path.startsWith('/v1beta/models/') && path.endsWith(':predictLongRunning'));
    const straight = submissions().at(-1);
    const task = await make('gemini-api-veo');
    assert.equal(task.status, 'completed', JSON.stringify(task));
    assert.equal(submissions().length, 2);
    assert.deepEqual(submissions().at(-1)?.requestBody, straight?.requestBody);
    assert.equal((await fetchFile(task)).subarray(4, 8).toString(), 'ftyp');
    assert.equal(await chargeOf(task), '1600000000');
  });

  test('Veo: a video that fails or is filtered costs nothing and says why', async () => {
    for (const model of [veo, 'gemini-api-veo']) {
      const failed = await make(model, ';end=failed;message=no-capacity');
      assert.deepEqual([failed.status, failed.error?.code, failed.error?.message], ['failed', 'upstream_failed', 'no-capacity']);
      const filtered = await make(model, ';end=moderated');
      assert.deepEqual([filtered.status, filtered.error?.code], ['failed', 'content_moderated']);
      assert.match(filtered.error?.message ?? '', /Responsible AI/);
      for (const task of [failed, filtered]) assert.equal(await chargeOf(task), '0');
    }
  });

  test('Veo: a poll that says nothing, and a revoked token, end no video', async () => {
    const task = make(veo, ';poll=500;poll-times=2');
    google.tokens.revoke();
    assert.equal((await task).status, 'completed');
    await assert.rejects(make('far-veo'), /not/);
  });
});
