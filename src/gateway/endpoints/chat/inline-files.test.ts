import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { DialectId } from '../../../dialects/dialect-id.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { StoredFile } from '../../../tools/file-search/file-objects.ts';
import { createInlineFiles, mayNameFiles } from './inline-files.ts';

const contents: Readonly<Record<string, readonly [name: string, mediaType: string, content: string]>> = {
  text: ['a.md', 'text/markdown', '# Ünder'],
  pdf: ['b.pdf', 'application/pdf', '%PDF-1.4'],
  image: ['c.png', 'image/png', 'PNG'],
  word: ['d.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'PK'],
};

/** The files of one user, and the ids of those that were read. */
function createFiles(dialect: DialectId, options: { readonly bytesMax?: number; readonly mayHold?: () => boolean } = {}) {
  const reads: string[] = [];
  const stored = (id: string): StoredFile | undefined => {
    const [filename = '', mediaType = '', content = ''] = contents[id] ?? [];
    const bytes = Buffer.byteLength(content);
    return id in contents ? { id, userName: 'owner', filename, purpose: 'user_data', mediaType, bytes, createdAtMs: 0 } : undefined;
  };
  const store = {
    findFile: ({ userName, fileId }: { readonly userName: string; readonly fileId: string }) =>
      Promise.resolve(userName === 'owner' ? stored(fileId) : undefined),
  };
  const library = {
    readWhole: ({ id }: { readonly id: string }) => {
      reads.push(id);
      return Promise.resolve(new Uint8Array(Buffer.from(contents[id]?.[2] ?? '')));
    },
  };
  const make = (userName: string) =>
    createInlineFiles({
      files: { store, library } as unknown as NonNullable<Parameters<typeof createInlineFiles>[0]['files']>,
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      userName,
      dialect,
      bytesMax: options.bytesMax ?? 1000,
      mayHold: options.mayHold ?? (() => true),
    });
  return { inline: make('owner'), foreign: make('other'), reads };
}

const base64 = (id: string): string => Buffer.from(contents[id]?.[2] ?? '').toString('base64');
const items = (...content: readonly JsonObject[]): JsonObject => ({ model: 'm', input: [{ role: 'user', content }] });
const messages = (...content: readonly JsonObject[]): JsonObject => ({ model: 'm', messages: [{ role: 'user', content }] });
const fromFile = (type: string, id: string): JsonObject => ({ type, source: { type: 'file', file_id: id } });

const filled: readonly (readonly [DialectId, JsonObject, JsonObject])[] = [
  [
    'openai-responses',
    items({ type: 'input_file', file_id: 'pdf' }, { type: 'input_image', file_id: 'image', detail: 'low' }),
    items(
      { type: 'input_file', filename: 'b.pdf', file_data: `data:application/pdf;base64,${base64('pdf')}` },
      { type: 'input_image', detail: 'low', image_url: `data:image/png;base64,${base64('image')}` },
    ),
  ],
  [
    'openai-responses',
    { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'text' }] }] },
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_file', filename: 'a.md', file_data: `data:text/plain;base64,${base64('text')}` }],
        },
      ],
    },
  ],
  [
    'anthropic-messages',
    messages(fromFile('document', 'text'), { type: 'tool_result', tool_use_id: 't', content: [fromFile('image', 'image')] }),
    messages(
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '# Ünder' } },
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64('image') } }],
      },
    ),
  ],
  [
    'openai-chat',
    messages(
      { type: 'file', file: { file_id: 'text' } },
      { type: 'file', file: { file_id: 'pdf' } },
      { type: 'file', file: { file_id: 'image' } },
    ),
    messages(
      { type: 'text', text: 'a.md\n# Ünder' },
      { type: 'file', file: { filename: 'b.pdf', file_data: `data:application/pdf;base64,${base64('pdf')}` } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64('image')}` } },
    ),
  ],
];

describe('files of the user in place of their ids', () => {
  for (const [dialect, body, expected] of filled)
    test(`${dialect} gets the files of ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const before = structuredClone(body);
      assert.deepEqual(await createFiles(dialect).inline(body), expected);
      assert.deepEqual(body, before, 'the request of the client does not change');
    });

  test('a body that names no file stays the same object, even if it has such a member', async () => {
    const cited = {
      input: [{ type: 'message', content: [{ type: 'output_text', annotations: [{ type: 'file_citation', file_id: 'gone' }] }] }],
    };
    assert.equal(await createFiles('openai-responses').inline(cited), cited);
    const toolUse = messages({ type: 'tool_use', id: 't', name: 'f', input: { source: { type: 'file', file_id: 'gone' } } });
    assert.equal(await createFiles('anthropic-messages').inline(toolUse), toolUse);
    const plain = items({ type: 'input_file', file_id: null, file_url: 'https://example.org/a.pdf' });
    assert.equal(await createFiles('openai-responses').inline(plain), plain);
  });

  test('a file that is named twice is read once', async () => {
    const { inline, reads } = createFiles('openai-responses');
    await inline(items({ type: 'input_file', file_id: 'pdf' }, { type: 'input_file', file_id: 'pdf' }));
    await inline(items({ type: 'input_file', file_id: 'pdf' }));
    assert.deepEqual(reads, ['pdf']);
  });
});

const error =
  (code: string, message: RegExp, param?: string) =>
  (thrown: unknown): boolean => {
    assert.ok(thrown instanceof GatewayError);
    assert.equal(thrown.code, code);
    assert.match(thrown.message, message);
    if (param !== undefined) assert.equal(thrown.param, param);
    return true;
  };

describe('ids and files that are refused', () => {
  const places: readonly (readonly [DialectId, (id: string) => JsonObject, param: string])[] = [
    [
      'openai-responses',
      (id) => items({ type: 'input_text', text: 'x' }, { type: 'input_file', file_id: id }),
      'input[0].content[1].file_id',
    ],
    ['openai-responses', (id) => items({ type: 'input_image', file_id: id }), 'input[0].content[0].file_id'],
    [
      'openai-responses',
      (id) => ({ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [id] } }] }),
      'tools[0].container.file_ids[0]',
    ],
    [
      'openai-responses',
      (id) => ({ tools: [{ type: 'image_generation', input_image_mask: { file_id: id } }] }),
      'tools[0].input_image_mask.file_id',
    ],
    ['openai-responses', (id) => ({ prompt: { variables: { v: { type: 'input_file', file_id: id } } } }), 'prompt.variables.v.file_id'],
    ['anthropic-messages', (id) => messages(fromFile('document', id)), 'messages[0].content[0].source.file_id'],
    ['anthropic-messages', (id) => messages({ type: 'container_upload', file_id: id }), 'messages[0].content[0].file_id'],
    ['openai-chat', (id) => messages({ type: 'file', file: { file_id: id } }), 'messages[0].content[0].file.file_id'],
  ];
  for (const [dialect, bodyWith, param] of places)
    test(`${param}: an unknown id and another user's id get the same answer`, async () => {
      const { inline, foreign } = createFiles(dialect);
      await assert.rejects(inline(bodyWith('nobody')), error('object_not_found', /^No such File object: nobody$/, param));
      await assert.rejects(foreign(bodyWith('image')), error('object_not_found', /^No such File object: image$/, param));
    });

  test('a file of the wrong kind, or for a container, is named', async () => {
    const responses = createFiles('openai-responses').inline;
    await assert.rejects(responses(items({ type: 'input_image', file_id: 'pdf' })), error('invalid_value', /requires an image/));
    const container = { tools: [{ type: 'code_interpreter', container: { file_ids: ['pdf'] } }] };
    await assert.rejects(responses(container), error('invalid_value', /container/));
    const messagesOf = createFiles('anthropic-messages').inline;
    await assert.rejects(messagesOf(messages(fromFile('document', 'word'))), error('invalid_value', /requires a PDF or a text/));
  });

  test('a request that is too large is refused before any file is read', async () => {
    const small = createFiles('openai-responses', { bytesMax: 20 });
    const twice = items({ type: 'input_file', file_id: 'pdf' }, { type: 'input_file', file_id: 'pdf' });
    await assert.rejects(small.inline(twice), error('request_too_large', /20 bytes together/));
    const full = createFiles('openai-responses', { mayHold: () => false });
    await assert.rejects(full.inline(items({ type: 'input_file', file_id: 'pdf' })), error('overloaded', /no room/));
    const many = Array.from({ length: 501 }, () => ({ type: 'input_file', file_id: 'pdf' }));
    await assert.rejects(createFiles('openai-responses').inline(items(...many)), error('request_too_large', /500 places/));
    assert.deepEqual([...small.reads, ...full.reads], []);
  });
});

test('a member whose name has escapes is found', () => {
  assert.ok(mayNameFiles(Buffer.from('{"file_id":1}')));
  assert.ok(mayNameFiles(Buffer.from('{"f\\u0069le_id":1}')));
  assert.ok(!mayNameFiles(Buffer.from('{"model":"m","input":"what is a file_id"}')));
});

test('every position of a large body is searched', async () => {
  for (const name of ['"file_id"', '\\u0069']) {
    for (const at of [0, 1_048_570, 1_048_576, 2_000_000, 2_999_990]) {
      const body = Buffer.alloc(3_000_000, '\\u0');
      body.write(name, at);
      assert.ok(await mayNameFiles(body), `${name} at ${at}`);
    }
  }
  assert.ok(!(await mayNameFiles(Buffer.alloc(3_000_000, '"file_i'))));
});
