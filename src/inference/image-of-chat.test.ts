import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from './gateway-error.ts';
import { imageOfChat } from './image-of-chat.ts';
import type { InferenceRequest, Part } from './inference-request.ts';
import { createTranslationNotes, type FieldNames } from './translation-notes.ts';

const names = { instructions: 'system', turns: 'messages', tools: 'tools', temperature: 'temperature' } as unknown as FieldNames;
const picture = (data: string): Part => ({ kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data } });
const chat = (more: Partial<InferenceRequest> = {}): InferenceRequest => ({
  model: 'm',
  stream: false,
  instructions: [],
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'a coast' }] }],
  tools: [],
  sampling: {},
  vendorFields: [],
  ...more,
});
const notesOf = (strict = false) => createTranslationNotes(names, strict);

test('text alone becomes an image request without notes', () => {
  const notes = notesOf();
  const { prompt, operation, delivery } = imageOfChat(chat(), { count: 1 }, notes);
  assert.deepEqual([prompt, operation, delivery, notes.list()], ['a coast', 'generate', 'base64', []]);
});

test('the prompt is the text of all turns in order, and the sources are their images', () => {
  const notes = notesOf();
  const thought: Part = { kind: 'reasoning', text: ['hm'] };
  const request = imageOfChat(
    chat({
      instructions: [{ kind: 'text', text: 'In oil.' }],
      turns: [
        { role: 'user', parts: [{ kind: 'text', text: 'a coast' }] },
        { role: 'assistant', parts: [thought, picture('one')] },
        { role: 'user', parts: [{ kind: 'text', text: 'at night' }, picture('two')] },
      ],
    }),
    { count: 2, aspectRatio: '3:2' },
    notes,
  );
  assert.equal(request.prompt, 'In oil.\n\na coast\n\nat night');
  assert.deepEqual([request.operation, request.count, request.aspectRatio], ['edit', 2, '3:2']);
  assert.deepEqual(
    request.sources.map((source) => source.kind === 'inline' && source.data),
    ['one', 'two'],
  );
  assert.deepEqual(
    notes.list().map(({ kind, field }) => `${kind} ${field}`),
    ['adapted system', 'adapted messages'],
  );
});

test('unsupported settings are noted, and refused in strict translation', () => {
  const request = chat({
    sampling: { temperature: 1 },
    tools: [{ kind: 'function', name: 'f' }],
    vendorFields: [
      { field: 'own', value: 1, weight: 'matters' },
      { field: 'harmless_field', value: 1, weight: 'harmless' },
    ],
  });
  const notes = notesOf();
  imageOfChat(request, { count: 1 }, notes);
  assert.deepEqual(
    notes.list().map(({ kind, field }) => `${kind} ${field}`),
    ['dropped temperature', 'dropped tools', 'dropped own'],
  );
  assert.throws(() => imageOfChat(request, { count: 1 }, notesOf(true)), { code: 'untranslatable_field', param: 'temperature' });
});

const sound: Part = {
  kind: 'media',
  media: 'audio',
  source: { kind: 'inline', mediaType: 'audio/wav', data: 'x' },
  path: 'messages.0.content.0',
};
const vendorFile: Part = { kind: 'media', media: 'image', source: { kind: 'vendor-file', id: 'f' }, path: 'messages.0.content.0' };
for (const [what, parts, param] of [
  ['no words', [picture('one')], 'messages'],
  ['a sound', [sound], 'messages.0.content.0'],
  ['a file of another vendor', [vendorFile], 'messages.0.content.0'],
  ['seventeen pictures', Array.from({ length: 17 }, () => picture('one')).concat({ kind: 'text', text: 'x' }), 'messages'],
] as const)
  test(`a chat with ${what} is refused, and the refusal names its field`, () => {
    assert.throws(
      () => imageOfChat(chat({ turns: [{ role: 'user', parts }] }), { count: 1 }, notesOf()),
      (error) => error instanceof GatewayError && error.code === 'untranslatable_field' && error.param === param,
    );
  });
