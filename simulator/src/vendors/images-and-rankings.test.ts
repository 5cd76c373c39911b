import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { writePlainImage } from '../media/plain-image.ts';
import { asText, isRecord, recordsOf } from '../read-json.ts';
import type { Json, JsonRecord } from '../simulated-vendor.ts';
import { startSimulator, type RunningSimulator } from '../start-simulator.ts';

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator();
});
after(() => simulator.close());

type Vendor = 'openai' | 'xai' | 'gemini';

async function send(vendor: Vendor, path: string, body: JsonRecord, headers: Record<string, string> = {}): Promise<Response> {
  const credential = { authorization: 'Bearer key', 'x-goog-api-key': 'key' };
  const origin = new URL(simulator.addresses[vendor]).origin;
  const sent = { ...credential, 'content-type': 'application/json', ...headers };
  return await fetch(`${origin}${path}`, { method: 'POST', headers: sent, body: JSON.stringify(body) });
}

async function ask(...call: Parameters<typeof send>): Promise<JsonRecord> {
  const response = await send(...call);
  const body = (await response.json()) as Json;
  assert.ok(isRecord(body));
  return { status: response.status, ...body };
}

/** The size in a file's header. */
function sizeOf(bytes: Buffer): string {
  if (bytes.toString('latin1', 1, 4) === 'PNG') return `png ${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`;
  if (bytes.toString('latin1', 0, 4) === 'RIFF') {
    const bits = bytes.readUInt32LE(21);
    return `webp ${(bits & 0x3fff) + 1}x${((bits >> 14) & 0x3fff) + 1}`;
  }
  const at = bytes.indexOf(Buffer.from('ffc0', 'hex'));
  return `jpeg ${bytes.readUInt16BE(at + 7)}x${bytes.readUInt16BE(at + 5)}`;
}

const pictureOf = (item: JsonRecord | undefined): Buffer => Buffer.from(asText(item?.['b64_json']), 'base64');

test('a plain image is a file of its format and size, the same for the same seed', () => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const picture = { format, width: 1536, height: 1024, seed: 's' };
    assert.equal(sizeOf(writePlainImage(picture)), `${format} 1536x1024`);
    assert.deepEqual(writePlainImage(picture), writePlainImage(picture));
  }
});

test('openai: images have the requested size and format, and tokens by size and quality', async () => {
  const body = { model: 'gpt-image-1.5', prompt: 'a coast', n: 2, size: '1024x1536', quality: 'low', output_format: 'webp' };
  const reply = await ask('openai', '/v1/images/generations', body);
  const data = recordsOf(reply['data']);
  assert.deepEqual(
    data.map((item) => sizeOf(pictureOf(item))),
    ['webp 1024x1536', 'webp 1024x1536'],
  );
  assert.ok(isRecord(reply['usage']));
  assert.deepEqual([reply['usage']['input_tokens'], reply['usage']['output_tokens']], [2, 816]);
});

test('openai: an edit is a form or JSON, and its stream ends with usage', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: 'gpt-image-1.5', prompt: 'x', stream: 'true', partial_images: '2' }))
    form.append(name, value);
  form.append('image[]', new Blob([new Uint8Array([1])], { type: 'image/png' }), 'a.png');
  const origin = new URL(simulator.addresses.openai).origin;
  const response = await fetch(`${origin}/v1/images/edits`, { method: 'POST', headers: { authorization: 'Bearer key' }, body: form });
  const events = (await response.text())
    .split('\n\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text.slice(text.indexOf('{'))) as JsonRecord);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['image_edit.partial_image', 'image_edit.partial_image', 'image_edit.completed'],
  );
  assert.deepEqual(
    events.map(({ usage }) => isRecord(usage)),
    [false, false, true],
  );
  const json = await ask('openai', '/v1/images/edits', { model: 'gpt-image-1.5', prompt: 'x', images: [{ file_id: 'f' }] });
  assert.equal(recordsOf(json['data']).length, 1);
});

test('openai: control headers cause moderation, faults and usage', async () => {
  const body = { model: 'gpt-image-1.5', prompt: 'x' };
  const blocked = await ask('openai', '/v1/images/generations', body, { 'x-simulator-stop': 'refusal' });
  assert.ok(isRecord(blocked['error']));
  assert.deepEqual([blocked['status'], blocked['error']['code']], [400, 'moderation_blocked']);
  assert.equal((await ask('openai', '/v1/images/generations', body, { 'x-simulator-usage': 'absent' }))['usage'], undefined);
  assert.equal((await send('openai', '/v1/images/generations', body, { 'x-simulator-fault': 'status;status=503' })).status, 503);
});

test("xai: addresses lead to images of the requested shape, and errors are the vendor's own", async () => {
  const reply = await ask('xai', '/v1/images/generations', { model: 'grok-imagine-image', prompt: 'x', aspect_ratio: '16:9' });
  const url = asText(recordsOf(reply['data'])[0]?.['url']);
  assert.equal(sizeOf(Buffer.from(await (await fetch(url)).arrayBuffer())), 'jpeg 1024x576');
  const refused = await ask('xai', '/v1/images/generations', { model: 'grok-imagine-image', prompt: 'x', size: '1024x1024' });
  assert.deepEqual(refused, { status: 400, code: 'Client specified an invalid argument', error: 'Argument not supported: size' });
});

const picturesOf = (body: JsonRecord): JsonRecord => ({
  contents: [{ parts: [{ text: 'x' }] }],
  generationConfig: { responseModalities: ['IMAGE'], ...body },
});

test('gemini: an image is a part with tokens of its modality, whole and as an event', async () => {
  const path = '/v1beta/models/gemini-3-pro-image-preview';
  const reply = await ask('gemini', `${path}:generateContent`, picturesOf({ imageConfig: { aspectRatio: '3:4', imageSize: '2K' } }));
  assert.match(JSON.stringify(reply['candidates']), /"mimeType":"image\/png"/);
  assert.ok(isRecord(reply['usageMetadata']));
  assert.deepEqual(reply['usageMetadata']['candidatesTokensDetails'], [{ modality: 'IMAGE', tokenCount: 1120 }]);
  const stream = await send('gemini', `${path}:streamGenerateContent?alt=sse`, picturesOf({}));
  assert.match(await stream.text(), /^data: \{"candidates"/);
  const blocked = await ask('gemini', `${path}:generateContent`, picturesOf({}), { 'x-simulator-stop': 'content-filter' });
  assert.equal(recordsOf(blocked['candidates'])[0]?.['finishReason'], 'IMAGE_SAFETY');
});

test('gemini: Imagen predicts the requested number of images, or gives the reason', async () => {
  const path = '/v1beta/models/imagen-4.0-generate-001:predict';
  const body = { instances: [{ prompt: 'x' }], parameters: { sampleCount: 2, outputOptions: { mimeType: 'image/jpeg' } } };
  assert.deepEqual(
    recordsOf((await ask('gemini', path, body))['predictions']).map(({ mimeType }) => mimeType),
    ['image/jpeg', 'image/jpeg'],
  );
  const filtered = await ask('gemini', path, body, { 'x-simulator-stop': 'refusal' });
  assert.match(asText(recordsOf(filtered['predictions'])[0]?.['raiFilteredReason']), /filtered/);
  assert.equal((await ask('gemini', path, { ...body, parameters: { sampleCount: 5 } }))['status'], 400);
});

const ranked = { model: 'r', query: 'the coast of the sea', documents: ['a bank', 'the sea and its coast'] };

test("rankings are sorted, in each vendor's form, with units or tokens", async () => {
  for (const path of ['/cohere/v1/rerank', '/cohere/v2/rerank', '/jina/v1/rerank', '/voyage/v1/rerank', '/v1/rerank', '/rerank']) {
    const reply = await ask('openai', path, ranked);
    const list = recordsOf(path.startsWith('/voyage') ? reply['data'] : reply['results']);
    assert.deepEqual(
      list.map(({ index }) => index),
      [1, 0],
      path,
    );
    assert.equal('meta' in reply, path.startsWith('/cohere'), path);
    assert.equal('usage' in reply, !path.startsWith('/cohere'), path);
  }
});

test("rankings are refused in each family's format", async () => {
  const message = "Argument 'top_k' is not supported by our API";
  assert.deepEqual(await ask('openai', '/cohere/v2/rerank', { ...ranked, top_k: 1 }), { status: 422, message });
  assert.deepEqual(await ask('openai', '/jina/v1/rerank', { ...ranked, top_k: 1 }), { status: 422, detail: message });
  assert.equal((await ask('openai', '/v1/rerank', { ...ranked, documents: [] }))['status'], 400);
});

test('moderations judge each input of a list, and the parts of one together', async () => {
  const each = recordsOf((await ask('openai', '/v1/moderations', { input: ['good morning', 'I will kill it'] }))['results']);
  assert.deepEqual(
    each.map(({ flagged }) => flagged),
    [false, true],
  );
  const parts = [
    { type: 'text', text: 'x' },
    { type: 'image_url', image_url: { url: 'https://a.example/' } },
  ];
  const [both] = recordsOf((await ask('openai', '/v1/moderations', { input: parts }))['results']);
  assert.ok(isRecord(both?.['category_applied_input_types']));
  assert.deepEqual(both['category_applied_input_types']['violence'], ['text', 'image']);
});
