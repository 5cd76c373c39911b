import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startSimulator, type RunningSimulator } from 'weir-simulator';

import { readImageEvent } from '../../src/dialects/openai-images/image-events.ts';
import { readGeminiImages } from '../../src/dialects/openai-images/read-gemini-images.ts';
import { readGenerationRequest } from '../../src/dialects/openai-images/read-image-request.ts';
import { readImagenReply } from '../../src/dialects/openai-images/read-imagen-reply.ts';
import { readImagesReply } from '../../src/dialects/openai-images/read-images-reply.ts';
import type { UpstreamImageCall } from '../../src/dialects/openai-images/upstreams/upstream-image-call.ts';
import { writeGeminiImages } from '../../src/dialects/openai-images/upstreams/write-gemini-images.ts';
import { writeImagen } from '../../src/dialects/openai-images/upstreams/write-imagen.ts';
import { writeOpenaiImages } from '../../src/dialects/openai-images/upstreams/write-openai-images.ts';
import { writeXaiImages } from '../../src/dialects/openai-images/upstreams/write-xai-images.ts';
import { readModerationReply } from '../../src/dialects/openai-moderations/read-moderation-reply.ts';
import { readRerankReply } from '../../src/dialects/rerank/read-rerank-reply.ts';
import { readRerankRequest } from '../../src/dialects/rerank/read-rerank-request.ts';
import { writeRerankRequest } from '../../src/dialects/rerank/write-rerank-request.ts';
import type { ImageInput, ImageRequest } from '../../src/inference/image.ts';
import { createFieldNotes } from '../../src/inference/translation-notes.ts';
import { encodeMultipart } from '../../src/platform/http/multipart-body.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { parseJsonObject } from '../../src/platform/json/parse-json.ts';
import { parseSseFrame } from '../../src/platform/sse/parse-sse-frame.ts';

// Strict upstreams accept the requests of our writers, and our readers understand their answers.

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator();
});
after(() => simulator.close());

type Vendor = 'openai' | 'xai' | 'gemini';

async function send(vendor: Vendor, path: string, body: JsonObject | Buffer, type = 'application/json'): Promise<Buffer> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const headers = { authorization: 'Bearer key', 'x-goog-api-key': 'key', 'content-type': type };
  const origin = new URL(simulator.addresses[vendor]).origin;
  const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: new Uint8Array(bytes) });
  const answer = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, answer.toString());
  return answer;
}

async function ask(vendor: Vendor, path: string, call: UpstreamImageCall): Promise<Buffer> {
  if ('json' in call) return await send(vendor, path, call.json);
  const { contentType, body } = encodeMultipart(call.form);
  const chunks: Buffer[] = [];
  for await (const chunk of body.read()) chunks.push(chunk);
  return await send(vendor, path, Buffer.concat(chunks), contentType);
}

const source: ImageInput = { kind: 'inline', mediaType: 'image/png', data: 'iVBORw0KGgo=' };
const request: ImageRequest = readGenerationRequest(
  { model: 'm', prompt: 'A coast', size: '1536x1024', quality: 'low', output_format: 'jpeg', output_compression: 80 },
  'compatible',
);
const edit: ImageRequest = { ...request, operation: 'edit', sources: [source] };

const upstreams: Readonly<
  Record<string, readonly [Vendor, (request: ImageRequest) => UpstreamImageCall, (operation: string) => string, typeof readImagesReply]>
> = {
  openai: [
    'openai',
    (asked) => writeOpenaiImages(asked, 'gpt-image-1.5', createFieldNotes(false)),
    (operation) => `/v1/images/${operation}`,
    readImagesReply,
  ],
  xai: [
    'xai',
    (asked) => writeXaiImages(asked, 'grok-imagine-image', createFieldNotes(false)),
    (operation) => `/v1/images/${operation}`,
    readImagesReply,
  ],
  gemini: [
    'gemini',
    (asked) => writeGeminiImages(asked, 'gemini-3-pro-image-preview', createFieldNotes(false)),
    (operation) => `/v1beta/models/gemini-3-pro-image-preview:${operation}`,
    readGeminiImages,
  ],
  imagen: [
    'gemini',
    (asked) => writeImagen(asked, createFieldNotes(false)),
    (operation) => `/v1beta/models/imagen-4.0-generate-001:${operation}`,
    readImagenReply,
  ],
};

for (const [name, [vendor, write, pathOf, read]] of Object.entries(upstreams))
  for (const asked of name === 'imagen' ? [request] : [request, edit])
    test(`${name}: a request to ${asked.operation} an image is accepted, and its reply has an image with usage`, async () => {
      const call = write(asked);
      const body = parseJsonObject(await ask(vendor, pathOf(call.operation), call));
      const reply = body && read(body, asked);
      assert.equal(reply?.images.length, 1);
      const { usage, trustworthy } = reply.usage;
      assert.ok(trustworthy);
      if (name === 'openai') assert.deepEqual([usage.outputImageTokens, (usage.inputImageTokens ?? 0) > 0], [400, asked === edit]);
      else if (name === 'gemini') assert.equal(usage.outputImageTokens, 1120);
      else assert.equal(usage.outputImages, 1);
    });

test('openai: a stream shows partial images and ends with usage', async () => {
  const call = writeOpenaiImages({ ...request, stream: true, partialImages: 2 }, 'gpt-image-1.5', createFieldNotes(false));
  const frames = (await ask('openai', '/v1/images/generations', call))
    .toString()
    .split('\n\n')
    .filter((text) => text !== '');
  const events = frames.map((text) => readImageEvent(parseSseFrame(Buffer.from(`${text}\n\n`), false).data));
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['partial', 'partial', 'completed'],
  );
  const last = events.at(-1);
  assert.equal(last?.kind === 'completed' && last.usage?.usage.outputTokens, 600);
});

test('rankings: the request to each upstream is accepted, and gives the same ranking', async () => {
  const body = { model: 'r', query: 'the coast', documents: ['a bank', 'the coast', { text: 'a coast' }], top_n: 2 };
  const asked = readRerankRequest(body, 'jina', 'compatible', createFieldNotes(false));
  for (const upstream of ['cohere', 'jina', 'voyage', 'vllm'] as const) {
    const { path, json } = writeRerankRequest(asked, upstream, 'r', createFieldNotes(false));
    const answer = parseJsonObject(await send('openai', upstream === 'vllm' ? path : `/${upstream}${path}`, json));
    const reply = answer && readRerankReply(answer, asked);
    assert.deepEqual(
      reply?.results.map(({ index }) => index),
      [1, 2],
      upstream,
    );
    assert.equal(reply.usage?.usage.searchUnits, upstream === 'cohere' ? 1 : undefined, upstream);
    assert.equal(reply.usage?.usage.inputTokens !== undefined, upstream !== 'cohere', upstream);
  }
});

test('moderations: each input has its verdict', async () => {
  const answer = parseJsonObject(await send('openai', '/v1/moderations', { input: ['good morning', 'I will kill it'] }));
  assert.deepEqual(answer && readModerationReply(answer, 2)?.results.map(({ flagged }) => flagged), [false, true]);
});
