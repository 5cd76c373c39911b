import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { encodeOpenaiError, encodeOpenaiStreamError } from '../encode-openai-error.ts';
import { inlineUploads } from './inline-uploads.ts';
import { readEditForm, type FormFile } from './read-edit-form.ts';
import { readEditRequest, readGenerationRequest } from './read-image-request.ts';

const least = { model: 'gpt-image-1.5', prompt: 'A lighthouse' };
const png = 'iVBORw0KGgo=';

function refusal(act: () => unknown): { param: string | undefined; code: unknown; message: string } {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.status, 400);
    return { param: error.param, code: error.details?.['openai_code'], message: error.message };
  }
  assert.fail('the request was not refused');
}

function upload(name: string, text: string, mediaType = 'image/png'): FormFile {
  const bytes = Buffer.from(text);
  return { name, filename: 'a.png', mediaType, content: { bytes: bytes.length, read: () => pieces(bytes) } };
}

// oxlint-disable-next-line typescript/require-await -- bodies are read by `for await`
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (const byte of bytes) yield Buffer.from([byte]);
}

test('every field of an image request is in the neutral form', () => {
  const body = {
    ...least,
    n: 2,
    size: '1536x1024',
    quality: 'high',
    background: 'transparent',
    output_format: 'webp',
    output_compression: 40,
    moderation: 'low',
    stream: true,
    partial_images: 2,
    user: 'u1',
    style: 'vivid',
    response_format: 'b64_json',
    seed: 7,
  };
  assert.deepEqual(readGenerationRequest(body, 'compatible'), {
    operation: 'generate',
    requestedModel: 'gpt-image-1.5',
    prompt: 'A lighthouse',
    count: 2,
    size: { width: 1536, height: 1024 },
    quality: 'high',
    background: 'transparent',
    outputFormat: 'webp',
    outputCompression: 40,
    moderation: 'low',
    style: 'vivid',
    delivery: 'base64',
    stream: true,
    partialImages: 2,
    sources: [],
    endUser: 'u1',
    otherFields: { seed: 7 },
  });
});

test('null and auto mean the same as an absent field', () => {
  const body = {
    ...least,
    n: null,
    size: 'auto',
    quality: 'auto',
    background: 'auto',
    moderation: 'auto',
    stream: null,
    response_format: null,
  };
  assert.deepEqual(readGenerationRequest(body, 'documented'), {
    operation: 'generate',
    requestedModel: 'gpt-image-1.5',
    prompt: 'A lighthouse',
    count: 1,
    stream: false,
    partialImages: 0,
    sources: [],
    otherFields: {},
  });
});

const refused: readonly [what: string, body: JsonObject, param: string, code: string][] = [
  ['no prompt', { model: 'm' }, 'prompt', 'missing_required_parameter'],
  ['no model', { prompt: 'p' }, 'model', 'missing_required_parameter'],
  ['an empty prompt', { ...least, prompt: '' }, 'prompt', 'empty_string'],
  ['a prompt that is too long', { ...least, prompt: 'x'.repeat(32_001) }, 'prompt', 'string_above_max_length'],
  ['eleven pictures', { ...least, n: 11 }, 'n', 'integer_above_max_value'],
  ['half an image', { ...least, n: 1.5 }, 'n', 'invalid_type'],
  ['a size in words', { ...least, size: 'large' }, 'size', 'invalid_value'],
  ['an unknown quality', { ...least, quality: 'best' }, 'quality', 'invalid_value'],
  ['four partial images', { ...least, stream: true, partial_images: 4 }, 'partial_images', 'integer_above_max_value'],
  ['partial images without a stream', { ...least, partial_images: 1 }, 'partial_images', 'invalid_value'],
  ['a transparent JPEG', { ...least, background: 'transparent', output_format: 'jpeg' }, 'background', 'invalid_value'],
];

for (const [what, body, param, code] of refused)
  test(`an image request with ${what} is refused with its field and the vendor's code`, () => {
    assert.deepEqual({ ...refusal(() => readGenerationRequest(body, 'compatible')), message: '' }, { param, code, message: '' });
  });

test('the documented mode refuses fields of other vendors, the compatible one reads them', () => {
  const body = { ...least, aspect_ratio: '16:9', resolution: '2k' };
  assert.equal(refusal(() => readGenerationRequest(body, 'documented')).code, 'unknown_parameter');
  const { aspectRatio, resolution, otherFields } = readGenerationRequest(body, 'compatible');
  assert.deepEqual({ aspectRatio, resolution, otherFields }, { aspectRatio: '16:9', resolution: '2k', otherFields: {} });
});

test("images of an edit are read as addresses, data and ids, and with xAI's field names", () => {
  const sources = [{ image_url: 'https://pictures.example/a.png' }, { image_url: `data:image/png;base64,${png}` }, { file_id: 'file-1' }];
  const request = readEditRequest({ ...least, images: sources, mask: { file_id: 'file-2' } }, 'documented');
  assert.deepEqual(request.sources, [
    { kind: 'url', url: 'https://pictures.example/a.png' },
    { kind: 'inline', mediaType: 'image/png', data: png },
    { kind: 'file', fileId: 'file-1' },
  ]);
  assert.deepEqual(request.mask, { kind: 'file', fileId: 'file-2' });
  const other = readEditRequest({ ...least, image: { type: 'image_url', url: 'https://pictures.example/a.png' } }, 'compatible');
  assert.deepEqual(other.sources, [{ kind: 'url', url: 'https://pictures.example/a.png' }]);
});

const refusedEdits: readonly [what: string, fields: JsonObject, param: string][] = [
  ['no picture', {}, 'images'],
  ['an empty list', { images: [] }, 'images'],
  ['both spellings', { images: [{ file_id: 'f' }], image: { file_id: 'f' } }, 'image'],
  ['two sources of one image', { images: [{ file_id: 'f', image_url: 'https://a.example/' }] }, 'images[0]'],
  ['an address of a file system', { images: [{ image_url: 'file:///etc/passwd' }] }, 'images[0].image_url'],
  ['data that is not an image', { images: [{ image_url: 'data:text/html;base64,AAAA' }] }, 'images[0].image_url'],
  ['data that is not base64', { images: [{ image_url: 'data:image/png;base64,<svg>' }] }, 'images[0].image_url'],
  ['an empty image object', { images: [{}] }, 'images[0].image_url'],
];

for (const [what, fields, param] of refusedEdits)
  test(`an edit with ${what} is refused`, () => {
    assert.equal(refusal(() => readEditRequest({ ...least, ...fields }, 'compatible')).param, param);
  });

test('a form is read like JSON', () => {
  const texts = Object.entries({ ...least, n: '3', stream: 'true', partial_images: '1', size: '1024x1024' });
  const request = readEditForm(
    {
      texts: texts.map(([name, value]) => ({ name, value })),
      files: [upload('image[]', 'one'), upload('image[]', 'two'), upload('mask', 'm')],
    },
    'documented',
  );
  const { count, stream, partialImages, size, sources, mask } = request;
  assert.deepEqual(
    { count, stream, partialImages, size },
    { count: 3, stream: true, partialImages: 1, size: { width: 1024, height: 1024 } },
  );
  assert.deepEqual([sources.length, mask?.kind], [2, 'upload']);
});

const texts = [
  { name: 'model', value: 'm' },
  { name: 'prompt', value: 'p' },
];
const refusedForms: readonly [what: string, form: Parameters<typeof readEditForm>[0], param: string][] = [
  ['no file', { texts, files: [] }, 'image'],
  ['a PDF', { texts, files: [upload('image', 'x', 'application/pdf')] }, 'image'],
  ['two masks', { texts, files: [upload('image', 'x'), upload('mask', 'x'), upload('mask', 'x')] }, 'mask'],
  ['a foreign file', { texts, files: [upload('video', 'x')] }, 'video'],
  ['seventeen pictures', { texts, files: Array.from({ length: 17 }, () => upload('image[]', 'x')) }, 'image'],
  ['a field twice', { texts: [...texts, { name: 'prompt', value: 'q' }], files: [upload('image', 'x')] }, 'prompt'],
  ['a count in words', { texts: [...texts, { name: 'n', value: 'two' }], files: [upload('image', 'x')] }, 'n'],
];

for (const [what, form, param] of refusedForms)
  test(`a form with ${what} is refused`, () => {
    assert.equal(refusal(() => readEditForm(form, 'compatible')).param, param);
  });

test('uploads are read into a JSON request up to a limit of bytes', async () => {
  const request = readEditForm({ texts, files: [upload('image', 'abc'), upload('mask', 'de')] }, 'compatible');
  const inlined = await inlineUploads(request, { bytesMax: 5, holdBytes: (bytes) => bytes <= 7 });
  assert.deepEqual(inlined.sources, [{ kind: 'inline', mediaType: 'image/png', data: Buffer.from('abc').toString('base64') }]);
  assert.deepEqual(inlined.mask, { kind: 'inline', mediaType: 'image/png', data: Buffer.from('de').toString('base64') });
  await assert.rejects(inlineUploads(request, { bytesMax: 4, holdBytes: () => true }), { param: 'image', code: 'invalid_value' });
  await assert.rejects(inlineUploads(request, { bytesMax: 5, holdBytes: () => false }), { code: 'overloaded' });
});

test('any body is read or refused with 400, and no prototype is changed', () => {
  const hostile = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('auto', '0x0', '99999x1', 'data:,', -1, 1e308));
  const names = [
    'n',
    'size',
    'quality',
    'images',
    'image',
    'mask',
    'stream',
    'partial_images',
    'aspect_ratio',
    '__proto__',
    'user',
    'prompt',
  ];
  const body = fc.array(fc.tuple(fc.constantFrom(...names), hostile), { maxLength: 6 });
  fc.assert(
    fc.property(body, fc.constantFrom('compatible', 'documented'), (members, mode) => {
      // As JSON.parse creates it: `__proto__` is an own member.
      const parsed = JSON.parse(
        JSON.stringify({ ...least }).slice(0, -1) + members.map(([k, v]) => `,${JSON.stringify(k)}:${JSON.stringify(v)}`).join('') + '}',
      ) as JsonObject;
      for (const read of [readGenerationRequest, readEditRequest]) {
        try {
          const request = read(parsed, mode);
          assert.equal(Object.getPrototypeOf(request.otherFields), Object.prototype);
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.status === 400, String(error));
        }
      }
    }),
  );
});

test('errors have all four members, as a reply and as the event that ends a stream', () => {
  const error = new GatewayError('upstream_refused_request', 'No.', { details: { openai_code: 'moderation_blocked' } });
  const body = { error: { message: 'No.', type: 'invalid_request_error', param: null, code: 'moderation_blocked' } };
  const reply = encodeOpenaiError(error, 'req_1');
  assert.deepEqual([reply.status, JSON.parse(reply.body.toString())], [400, body]);
  const [head = '', data = ''] = encodeOpenaiStreamError(error).toString().split('\n');
  assert.deepEqual([head, JSON.parse(data.slice('data: '.length))], ['event: error', { type: 'error', ...body }]);
  const codes = (['insufficient_credit', 'rate_limited', 'invalid_api_key', 'route_not_found', 'upstream_model_not_found'] as const).map(
    (code) => {
      const written = JSON.parse(encodeOpenaiError(new GatewayError(code, 'x'), 'r').body.toString()) as { error: { code: unknown } };
      return written.error.code;
    },
  );
  assert.deepEqual(codes, ['insufficient_quota', 'rate_limit_exceeded', 'invalid_api_key', null, 'model_not_found']);
});
