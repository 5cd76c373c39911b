import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageInput, ImageRequest } from '../../../inference/image.ts';
import { createFieldNotes, type FieldNotes } from '../../../inference/translation-notes.ts';
import { boundImageTokens } from '../bound-image-tokens.ts';
import type { UpstreamImageCall } from './upstream-image-call.ts';
import { writeGeminiImages } from './write-gemini-images.ts';
import { writeImagen } from './write-imagen.ts';
import { writeOpenaiImages } from './write-openai-images.ts';
import { writeXaiImages } from './write-xai-images.ts';

const plain: ImageRequest = {
  operation: 'generate',
  requestedModel: 'm',
  prompt: 'A lighthouse',
  count: 1,
  stream: false,
  partialImages: 0,
  sources: [],
  otherFields: {},
};
const inline: ImageInput = { kind: 'inline', mediaType: 'image/jpeg', data: 'AAAA' };
const url: ImageInput = { kind: 'url', url: 'https://pictures.example/a.png' };
const full: ImageRequest = {
  ...plain,
  quality: 'high',
  background: 'transparent',
  outputFormat: 'webp',
  outputCompression: 40,
  moderation: 'low',
  style: 'vivid',
  inputFidelity: 'high',
  endUser: 'u',
  stream: true,
  partialImages: 2,
  otherFields: { seed: 7 },
};

type Write = (request: ImageRequest, notes: FieldNotes) => UpstreamImageCall;
const writers: Readonly<Record<string, Write>> = {
  openai: (request, notes) => writeOpenaiImages(request, 'gpt-image-1.5', notes),
  dalle: (request, notes) => writeOpenaiImages(request, 'dall-e-3', notes),
  xai: (request, notes) => writeXaiImages(request, 'grok-imagine-image', notes),
  gemini: (request, notes) => writeGeminiImages(request, 'gemini-3-pro-image-preview', notes),
  imagen: (request, notes) => writeImagen(request, notes),
};

function write(writer: string, request: ImageRequest): { call: unknown; notes: string[] } {
  const notes = createFieldNotes(false);
  const call = writers[writer]?.(request, notes);
  return {
    call: call !== undefined && 'json' in call ? call.json : call,
    notes: notes.list().map(({ kind, field }) => `${kind} ${field}`),
  };
}

function refusedField(writer: string, request: ImageRequest, strict = false): string | undefined {
  try {
    writers[writer]?.(request, createFieldNotes(strict));
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.code === 'untranslatable_field', String(error));
    return error.param;
  }
  assert.fail('the request was not refused');
}

test('OpenAI receives every field, except that newer models receive no form of delivery', () => {
  const { call, notes } = write('openai', { ...full, size: { width: 1536, height: 1024 }, count: 2, delivery: 'url' });
  assert.deepEqual(call, {
    model: 'gpt-image-1.5',
    prompt: 'A lighthouse',
    n: 2,
    size: '1536x1024',
    quality: 'high',
    background: 'transparent',
    output_format: 'webp',
    output_compression: 40,
    moderation: 'low',
    input_fidelity: 'high',
    stream: true,
    partial_images: 2,
    user: 'u',
    seed: 7,
  });
  assert.deepEqual(notes, ['dropped style']);
});

test('the older models receive only the fields that they support', () => {
  const { call, notes } = write('dalle', { ...full, inputFidelity: undefined as never, delivery: 'url', aspectRatio: '16:9' });
  assert.deepEqual(call, {
    model: 'dall-e-3',
    prompt: 'A lighthouse',
    size: '1792x1024',
    quality: 'hd',
    response_format: 'url',
    style: 'vivid',
    user: 'u',
    seed: 7,
  });
  assert.deepEqual(notes, [
    'adapted aspect_ratio',
    'dropped background',
    'dropped output_format',
    'dropped output_compression',
    'dropped moderation',
    'emulated stream',
    'dropped partial_images',
    'adapted quality',
  ]);
});

test('an edit is a form if all images are inline, and JSON if one is an address or an id', () => {
  const { call } = write('openai', { ...plain, operation: 'edit', count: 2, sources: [inline, inline], mask: inline });
  assert.ok(typeof call === 'object' && call !== null && 'form' in call && Array.isArray(call.form));
  const parts = (call.form as { name: string; value?: string; filename?: string }[]).map(({ name, value, filename }) => [
    name,
    value ?? filename,
  ]);
  assert.deepEqual(parts, [
    ['model', 'gpt-image-1.5'],
    ['prompt', 'A lighthouse'],
    ['n', '2'],
    ['image[]', 'image-1.jpg'],
    ['image[]', 'image-2.jpg'],
    ['mask', 'mask.jpg'],
  ]);
  const mixed = write('openai', { ...plain, operation: 'edit', sources: [inline, url, { kind: 'file', fileId: 'f' }] });
  assert.deepEqual(mixed.call, {
    model: 'gpt-image-1.5',
    prompt: 'A lighthouse',
    images: [{ image_url: 'data:image/jpeg;base64,AAAA' }, { image_url: 'https://pictures.example/a.png' }, { file_id: 'f' }],
  });
});

test('xAI receives aspect ratios and size classes, and each unsupported field is noted', () => {
  const { call, notes } = write('xai', { ...full, size: { width: 1792, height: 1024 }, delivery: 'base64', count: 3 });
  assert.deepEqual(call, {
    model: 'grok-imagine-image',
    prompt: 'A lighthouse',
    n: 3,
    aspect_ratio: '16:9',
    resolution: '2k',
    response_format: 'b64_json',
  });
  const unsupported = ['quality', 'background', 'output_format', 'output_compression', 'moderation', 'style', 'input_fidelity', 'user'];
  assert.deepEqual(notes, [
    ...unsupported.map((field) => `dropped ${field}`),
    'emulated stream',
    'dropped partial_images',
    'dropped seed',
    'adapted size',
  ]);
  const edit = write('xai', { ...plain, operation: 'edit', sources: [inline], aspectRatio: '20:9', resolution: '4k' });
  assert.deepEqual(edit.call, {
    model: 'grok-imagine-image',
    prompt: 'A lighthouse',
    aspect_ratio: '2:1',
    resolution: '2k',
    image: { type: 'image_url', url: 'data:image/jpeg;base64,AAAA' },
  });
  assert.deepEqual(edit.notes, ['adapted aspect_ratio', 'adapted resolution']);
});

test('Gemini receives parts, with a size class only if the model has several', () => {
  const { call } = write('gemini', { ...plain, operation: 'edit', sources: [inline, url], size: { width: 1024, height: 1536 } });
  assert.deepEqual(call, {
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'A lighthouse' },
          { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } },
          { fileData: { fileUri: 'https://pictures.example/a.png' } },
        ],
      },
    ],
    generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '2:3', imageSize: '1K' } },
  });
  const notes = createFieldNotes(false);
  const old = writeGeminiImages({ ...plain, resolution: '4k' }, 'gemini-2.5-flash-image', notes);
  assert.deepEqual('json' in old && old.json['generationConfig'], { responseModalities: ['IMAGE'] });
  assert.deepEqual(
    notes.list().map(({ field }) => field),
    ['resolution'],
  );
});

test('Imagen receives instances and parameters, and is asked for the reasons of filtered images', () => {
  const request: ImageRequest = { ...plain, count: 4, aspectRatio: '16:9', resolution: '2k', outputFormat: 'jpeg', outputCompression: 80 };
  assert.deepEqual(write('imagen', request), {
    call: {
      instances: [{ prompt: 'A lighthouse' }],
      parameters: {
        sampleCount: 4,
        aspectRatio: '16:9',
        sampleImageSize: '2K',
        outputOptions: { mimeType: 'image/jpeg', compressionQuality: 80 },
        includeRaiReason: true,
      },
    },
    notes: [],
  });
  assert.deepEqual(write('imagen', { ...plain, outputFormat: 'png', outputCompression: 80 }).notes, ['dropped output_compression']);
});

const refused: readonly [writer: string, what: string, request: Partial<ImageRequest>, field: string][] = [
  ['xai', 'a mask', { operation: 'edit', sources: [inline], mask: inline }, 'mask'],
  ['xai', 'an id of another vendor', { operation: 'edit', sources: [{ kind: 'file', fileId: 'f' }] }, 'images'],
  ['xai', 'six sources', { operation: 'edit', sources: Array.from({ length: 6 }, () => url) }, 'images'],
  ['gemini', 'two pictures', { count: 2 }, 'n'],
  ['gemini', 'a mask', { operation: 'edit', sources: [inline], mask: inline }, 'mask'],
  ['gemini', 'an id of another vendor', { operation: 'edit', sources: [{ kind: 'file', fileId: 'f' }] }, 'images'],
  ['imagen', 'five pictures', { count: 5 }, 'n'],
  ['imagen', 'an edit', { operation: 'edit', sources: [inline] }, 'images'],
];

for (const [writer, what, request, field] of refused)
  test(`${writer}: ${what} would change the requested image and is refused`, () => {
    assert.equal(refusedField(writer, { ...plain, ...request }), field);
  });

test('no writer drops a field silently, and strict translation refuses each loss', () => {
  for (const writer of ['xai', 'gemini', 'imagen', 'dalle']) {
    for (const member of ['background', 'moderation', 'partialImages'] as const)
      assert.ok(refusedField(writer, { ...plain, [member]: full[member], stream: true }, true), `${writer} ${member}`);
  }
});

test('a hold covers the most expensive image of a size', () => {
  const sized = (width: number, height: number): ImageRequest => ({ ...plain, size: { width, height } });
  assert.equal(boundImageTokens(plain, 'by-size'), 6240);
  assert.equal(boundImageTokens({ ...sized(1024, 1024), quality: 'low', count: 3 }, 'by-size'), 816);
  assert.equal(boundImageTokens({ ...plain, quality: 'medium', partialImages: 3 }, 'by-size'), 1884);
  assert.ok(boundImageTokens(sized(3840, 2160), 'by-size') > 30_000);
  assert.equal(boundImageTokens(sized(99_999, 99_999), 'by-size'), boundImageTokens(sized(3840, 2160), 'by-size'));
  assert.equal(boundImageTokens({ ...plain, count: 1 }, 'native'), 2000);
});
