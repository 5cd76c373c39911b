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

test('words alone make a image, and nothing is noted', () => {
  const notes = notesOf();
  const { prompt, operation, delivery } = imageOfChat(chat(), { count: 1 }, notes);
  assert.deepEqual([prompt, operation, delivery, notes.list()], ['a coast', 'generate', 'base64', []]);
});

test('the prompt is the text of all turns in order, and the sources are their images', () => {
  const notes = notesOf();
  const thought: Part = { kind: 'reasoning', text: ['hm'] };
  const asked = imageOfChat(
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
  assert.equal(asked.prompt, 'In oil.\n\na coast\n\nat night');
  assert.deepEqual([asked.operation, asked.count, asked.aspectRatio], ['edit', 2, '3:2']);
  assert.deepEqual(
    asked.sources.map((source) => source.kind === 'inline' && source.data),
    ['one', 'two'],
  );
  assert.deepEqual(
    notes.list().map(({ kind, field }) => `${kind} ${field}`),
    ['adapted system', 'adapted messages'],
  );
});

test('unsupported settings are noted, and refused in strict translation', () => {
  const asked = chat({
    sampling: { temperature: 1 },
    tools: [{ kind: 'function', name: 'f' }],
    vendorFields: [
      { field: 'own', value: 1, weight: 'matters' },
      { field: 'said anyway', value: 1, weight: 'harmless' },
    ],
  });
  const notes = notesOf();
  imageOfChat(asked, { count: 1 }, notes);
  assert.deepEqual(
    notes.list().map(({ kind, field }) => `${kind} ${field}`),
    ['dropped temperature', 'dropped tools', 'dropped own'],
  );
  assert.throws(() => imageOfChat(asked, { count: 1 }, notesOf(true)), { code: 'untranslatable_field', param: 'temperature' });
});

const sound: Part = {
  kind: 'media',
  media: 'audio',
  source: { kind: 'inline', mediaType: 'audio/wav', data: 'x' },
  path: 'messages.0.content.0',
};
const kept: Part = { kind: 'media', media: 'image', source: { kind: 'vendor-file', id: 'f' }, path: 'messages.0.content.0' };
for (const [what, parts, param] of [
  ['no words', [picture('one')], 'messages'],
  ['a sound', [sound], 'messages.0.content.0'],
  ['a file of another vendor', [kept], 'messages.0.content.0'],
  ['seventeen pictures', Array.from({ length: 17 }, () => picture('one')).concat({ kind: 'text', text: 'x' }), 'messages'],
] as const)
  test(`a chat with ${what} is refused with its field`, () => {
    assert.throws(
      () => imageOfChat(chat({ turns: [{ role: 'user', parts }] }), { count: 1 }, notesOf()),
      (error) => error instanceof GatewayError && error.code === 'untranslatable_field' && error.param === param,
    );
  });
