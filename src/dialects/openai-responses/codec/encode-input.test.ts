import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assistant, result, text, user } from '../../../inference/testing/fake-turns.ts';
import type { Part, Turn } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { call, encode, input, media, png, refusalOf, says } from './testing/test-kit.ts';

const inputOf = (turns: readonly Turn[], traits: Partial<ModelTraits> = {}): unknown => encode({ turns }, traits).body.input;

const output = (value: string): JsonObject => ({ type: 'output_text', text: value, annotations: [] });

describe('history', () => {
  test('an assistant turn keeps its order, and results follow their calls', () => {
    const turns = [
      user(text('Weather?')),
      assistant(
        { kind: 'reasoning', text: ['Hm.'], proof: { origin: 'openai', blob: 'gAAA' }, itemId: 'rs_1' },
        text('I look.'),
        text('Now.'),
        call('call_1', { arguments: '' }),
        call('call_2'),
      ),
      user(result('call_2'), result('call_1', 'bad', true), text('And?')),
    ];
    assert.deepEqual(inputOf(turns), [
      says('user', input('Weather?')),
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAA' },
      says('assistant', output('I look.'), output('Now.')),
      { type: 'function_call', call_id: 'call_1', name: 'w', arguments: '{}' },
      { type: 'function_call', call_id: 'call_2', name: 'w', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Error: bad' },
      { type: 'function_call_output', call_id: 'call_2', output: 'ok' },
      says('user', input('And?')),
    ]);
  });

  test('reasoning of another vendor is omitted and never becomes text (BerriAI/litellm#26916)', () => {
    const turns = [
      user(text('a')),
      assistant(
        { kind: 'reasoning', text: ['secret'], proof: { origin: 'anthropic', blob: 'sig' } },
        { kind: 'reasoning', text: ['bare'] },
        text('b'),
      ),
      user(text('c')),
    ];
    const { body, notes } = encode({ turns });
    assert.deepEqual(body.input, [says('user', input('a')), says('assistant', output('b')), says('user', input('c'))]);
    assert.deepEqual(notes, ['adapted messages']);
  });

  test('empty reasoning with a proof is kept (openai/openai-agents-python#4155)', () => {
    const turns = [
      user(text('a')),
      assistant({ kind: 'reasoning', text: [], proof: { origin: 'openai', blob: 'gAAA' } }, text('b')),
      user(text('c')),
    ];
    assert.deepEqual((inputOf(turns) as unknown[])[1], { type: 'reasoning', summary: [], encrypted_content: 'gAAA' });
  });

  test('user messages with results between them are not joined (gptme/gptme#3847)', () => {
    const turns = [user(text('a')), user(text('b')), assistant(call('call_1')), user(result('call_1')), user(text('c'))];
    assert.deepEqual(
      (inputOf(turns) as JsonObject[]).map(({ type, role }) => role ?? type),
      ['user', 'user', 'function_call', 'function_call_output', 'user'],
    );
  });

  test('a call without a result gets one (router-for-me/CLIProxyAPI#2368), a result without a call is refused (microsoft/vscode#320060)', () => {
    const { body, notes } = encode({ turns: [user(text('a')), assistant(call('call_1', { path: 'messages.1' })), user(text('b'))] });
    assert.deepEqual((body.input as unknown[])[2], {
      type: 'function_call_output',
      call_id: 'call_1',
      output: 'Error: The tool call was not executed.',
    });
    assert.deepEqual(notes, ['adapted messages.1']);
    refusalOf(() => encode({ turns: [user(result('call_9'))] }));
  });

  test('long ids of calls are shortened alike in call and result', () => {
    const id = 'x'.repeat(100);
    const items = inputOf([user(text('a')), assistant(call(id)), user(result(id))]) as JsonObject[];
    assert.ok((textOf(items[1]?.call_id) ?? id).length <= 64);
    assert.equal(items[1]?.call_id, items[2]?.call_id);
  });

  test('an empty text is dropped, and so is a turn that becomes empty', () => {
    assert.deepEqual(inputOf([user(text('a')), assistant(text('')), user(text(''), text('b'))]), [
      says('user', input('a')),
      says('user', input('b')),
    ]);
  });

  test('a system turn keeps its position', () => {
    assert.deepEqual(
      (inputOf([user(text('a')), { role: 'system', parts: [text('s')] }, user(text('b'))]) as unknown[])[1],
      says('system', input('s')),
    );
  });

  test('a reply to be continued is refused', () => {
    const turns = [user(text('a')), assistant({ kind: 'text', text: '{', path: 'messages.1.content' })];
    assert.equal(refusalOf(() => encode({ turns })).param, 'messages.1.content');
    assert.equal((inputOf(turns, { prefill: true }) as unknown[]).length, 2);
  });

  test("citations of pages stay with their text, and citations of other vendors' files do not", () => {
    const citations = [
      { start: 0, end: 1, title: 'T', source: { kind: 'url', url: 'https://example.org' } },
      { source: { kind: 'document', index: 0 } },
    ] as const;
    const [, message] = inputOf([user(text('a')), assistant({ kind: 'text', text: '🌊b', citations }), user(text('c'))]) as JsonObject[];
    assert.deepEqual(message?.content, [
      { ...output('🌊b'), annotations: [{ type: 'url_citation', start_index: 0, end_index: 1, title: 'T', url: 'https://example.org' }] },
    ]);
  });

  test('tool runs of another vendor are noted and omitted, and vendor parts are omitted or refused', () => {
    const search: Part = {
      kind: 'server-tool',
      tool: 'web-search',
      id: 's',
      input: [],
      wire: [{ type: 'server_tool_use' }],
      path: 'messages.1.content.0',
    };
    const droppable: Part = { kind: 'vendor', name: 'x', wire: {}, elsewhere: 'drop', path: 'messages.1.content.1' };
    const { body, notes } = encode({ turns: [user(text('a')), assistant(search, droppable, text('b')), user(text('c'))] });
    assert.equal((body.input as unknown[]).length, 3);
    assert.deepEqual(notes, ['dropped messages.1.content.0', 'dropped messages.1.content.1']);
    assert.equal(refusalOf(() => encode({ turns: [user({ ...droppable, elsewhere: 'refuse' })] })).param, 'messages.1.content.1');
  });

  test('code that another vendor ran becomes text', () => {
    const run: Part = {
      kind: 'server-tool',
      tool: 'code-execution',
      id: 'c',
      input: ['print(1)'],
      results: [{ text: '1' }],
      wire: [],
      path: 'p1',
    };
    const { body, notes } = encode({ turns: [user(text('a')), assistant(text('b'), run, text('c')), user(text('d'))] });
    assert.match(JSON.stringify(body.input), /"b".*Code that was run.*print\(1\).*Its output.*"c"/);
    assert.deepEqual(notes, ['adapted p1']);
  });

  test('an image that the model generated follows in a user message', () => {
    assert.deepEqual(inputOf([user(text('a')), assistant(media('image', png)), user(text('b'))]), [
      says('user', input('a')),
      says('user', input('Made by the assistant:'), { type: 'input_image', image_url: 'data:image/png;base64,iVBO' }),
      says('user', input('b')),
    ]);
  });
});

describe('media', () => {
  const cases: readonly (readonly [part: Part, content: readonly JsonObject[]])[] = [
    [media('image', png, { detail: 'low' }), [{ type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'low' }]],
    [media('image', { kind: 'url', url: 'https://example.org/a.png' }), [{ type: 'input_image', image_url: 'https://example.org/a.png' }]],
    [
      media('file', { kind: 'inline', mediaType: 'application/pdf', data: 'JVBE' }, { context: 'From 2026.' }),
      [input('From 2026.'), { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' }],
    ],
    [
      media('file', { kind: 'inline', mediaType: 'text/csv', data: 'YQ==' }, { filename: 'a.csv' }),
      [{ type: 'input_file', filename: 'a.csv', file_data: 'data:text/csv;base64,YQ==' }],
    ],
    [media('file', { kind: 'url', url: 'https://example.org/a.pdf' }), [{ type: 'input_file', file_url: 'https://example.org/a.pdf' }]],
    [media('file', { kind: 'text', text: 'Words.' }, { title: 'T' }), [input('T\n\nWords.')]],
    [
      media('audio', { kind: 'inline', mediaType: 'audio/wav', data: 'AAAA' }),
      [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ],
  ];
  for (const [part, content] of cases) {
    test(JSON.stringify(part), () => assert.deepEqual(inputOf([user(part)]), [says('user', ...content)]));
  }

  const refused: readonly Part[] = [
    media('video', { kind: 'inline', mediaType: 'video/mp4', data: 'AAAA' }, { path: 'p' }),
    media('audio', { kind: 'inline', mediaType: 'audio/ogg', data: 'AAAA' }, { path: 'p' }),
    media('image', { kind: 'vendor-file', id: 'file_1' }, { path: 'p' }),
    media('file', { kind: 'vendor-file', id: 'file_1' }, { path: 'p' }),
  ];
  for (const part of refused) {
    test(`${JSON.stringify(part)} is refused`, () => assert.equal(refusalOf(() => inputOf([user(part)])).param, 'p'));
  }

  const withImage = (isError: boolean): Part => ({
    kind: 'tool-result',
    callId: 'call_1',
    content: [
      { kind: 'text', text: 'Map' },
      { kind: 'media', media: 'image', source: png },
    ],
    isError,
  });

  test('images in results are a list, or follow in a user message if the model accepts only text', () => {
    const turns = (isError: boolean): readonly Turn[] => [user(text('a')), assistant(call('call_1')), user(withImage(isError), text('b'))];
    const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBO' };
    assert.deepEqual((inputOf(turns(false)) as JsonObject[])[2]?.output, [input('Map'), image]);
    assert.deepEqual((inputOf(turns(true)) as JsonObject[])[2]?.output, [input('Error: '), input('Map'), image]);
    const { body, notes } = encode({ turns: turns(false) }, { imagesInToolResults: false });
    assert.deepEqual((body.input as unknown[]).slice(2), [
      { type: 'function_call_output', call_id: 'call_1', output: 'Map' },
      says('user', input('Returned by the tool call call_1:'), image, input('b')),
    ]);
    assert.deepEqual(notes, ['adapted messages']);
  });
});
