import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistant, call, result, text, user } from '../../../inference/testing/fake-turns.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InferenceRequest, Part, Turn } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { validateRequest } from '../validate-request.ts';
import { encode } from './testing/test-kit.ts';

const gemini = { origin: 'gemini', blob: 'AbCd' };
const foreign = { origin: 'anthropic', blob: 'sig' };

/** Encodes a conversation as contents. Our own interface must accept the result. */
function contentsOf(
  turns: readonly Turn[],
  differences: Partial<ModelTraits> = {},
  members: Partial<InferenceRequest> = {},
): readonly JsonObject[] {
  const { body } = encode({ ...members, turns }, differences);
  validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  return body.contents as unknown as readonly JsonObject[];
}

const partsOf = (turns: readonly Turn[], at: number, differences?: Partial<ModelTraits>, members?: Partial<InferenceRequest>): unknown =>
  contentsOf(turns, differences, members)[at]?.parts;

test('a conversation keeps roles, the order within a turn, and instructions', () => {
  const { body } = encode({
    instructions: [
      { kind: 'text', text: 'A' },
      { kind: 'text', text: '' },
      { kind: 'text', text: 'B' },
    ],
    turns: [user(text('q')), assistant({ kind: 'refusal', text: 'No.' }), user(text('why'))],
  });
  assert.deepEqual(body, {
    contents: [
      { role: 'user', parts: [{ text: 'q' }] },
      { role: 'model', parts: [{ text: 'No.' }] },
      { role: 'user', parts: [{ text: 'why' }] },
    ],
    systemInstruction: { parts: [{ text: 'A' }, { text: 'B' }] },
  });
});

test('all results of one turn are in one content, in the order of the calls, with other parts after them (MoonshotAI/kosong#45, mlflow/mlflow#24296, Portkey-AI/gateway#980, rowboatlabs/rowboat#378)', () => {
  const contents = contentsOf([
    user(text('q')),
    assistant(text('Let me see.'), call('a', 'f', '{"x":1}'), call('b', 'f')),
    user(text('and hurry'), result('b', '[1,2]')),
    user(result('a', '{"ok":true}')),
  ]);
  assert.deepEqual(contents.slice(1), [
    {
      role: 'model',
      parts: [
        { text: 'Let me see.' },
        { functionCall: { id: 'a', name: 'f', args: { x: 1 } } },
        { functionCall: { id: 'b', name: 'f', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'f', response: { ok: true } } },
        { functionResponse: { id: 'b', name: 'f', response: { result: [1, 2] } } },
        { text: 'and hurry' },
      ],
    },
  ]);
});

test('results are objects: errors under error, text under result', () => {
  const turns = [
    user(text('q')),
    assistant(call('a'), call('b'), call('c')),
    user(result('a', 'boom', true), result('b', '007'), result('c', '')),
  ];
  assert.deepEqual(
    (partsOf(turns, 2) as { functionResponse: JsonObject }[]).map((part) => part.functionResponse.response),
    [{ error: 'boom' }, { result: '007' }, { result: '' }],
  );
});

test('a call without a result gets one that says so, and a result without a call, or arguments that are not an object, are refused', () => {
  const { body, notes } = encode({ turns: [user(text('q')), assistant(call('a')), user(text('stop'))] });
  const answered = (body.contents as { parts: JsonObject[] }[])[2]?.parts;
  assert.deepEqual(answered, [
    { functionResponse: { id: 'a', name: 'f', response: { error: 'The tool call was not executed.' } } },
    { text: 'stop' },
  ]);
  assert.deepEqual(notes, ['adapted contents']);
  for (const turns of [
    [user(result('x', 'r'))],
    [user(text('q')), assistant({ ...call('a', 'f', 'no json'), path: 'messages.1' }), user(result('a', 'r'))],
  ]) {
    assert.throws(
      () => encode({ turns }),
      (error) => error instanceof GatewayError && error.code === 'untranslatable_field',
    );
  }
});

test('a call follows a user turn: one is added if the model begins, and system text in between becomes user text', () => {
  assert.deepEqual(contentsOf([assistant(text('Hello')), { role: 'system', parts: [text('Be brief.')] }, user(text('q'))]), [
    { role: 'user', parts: [{ text: '.' }] },
    { role: 'model', parts: [{ text: 'Hello' }] },
    { role: 'user', parts: [{ text: '<system>Be brief.</system>' }, { text: 'q' }] },
  ]);
});

test('empty texts and turns are left out (anthropics/claude-code#50082, vercel/eve#2753)', () => {
  assert.deepEqual(contentsOf([user(text('')), user(text('q'), text('')), assistant(text('')), user(text('r'))]), [
    { role: 'user', parts: [{ text: 'q' }, { text: 'r' }] },
  ]);
});

test('reasoning of other vendors is left out completely and never sent as text (BerriAI/litellm#26916)', () => {
  const { body, notes } = encode({
    turns: [
      user(text('q')),
      assistant(
        { kind: 'reasoning', text: ['secret'], proof: foreign },
        { kind: 'reasoning', text: ['secret'] },
        {
          ...call('a'),
          proof: foreign,
        },
      ),
      user(result('a', 'r')),
      assistant({ kind: 'reasoning', text: ['secret'], proof: foreign }),
      user(text('go on')),
    ],
  });
  assert.ok(!JSON.stringify(body).includes('secret') && !JSON.stringify(body).includes('thoughtSignature'));
  assert.equal((body.contents as unknown[]).length, 3);
  assert.deepEqual(notes, ['adapted contents']);
});

test('the vendor’s own proofs return on the part that they prove (mlflow/mlflow#24051, QwenLM/qwen-code#1187)', () => {
  const own = (part: Part): Part => ({ ...part, proof: gemini }) as Part;
  const thoughtSignature = 'AbCd';
  const reasoning: Part = { kind: 'reasoning', text: ['A', 'B'], proof: gemini };
  const hidden: Part = { kind: 'reasoning', text: [], proof: gemini };
  const called = { functionCall: { id: 'a', name: 'f', args: {} } };
  const cases: readonly (readonly [parts: Part[], expected: unknown])[] = [
    [[own(text('x'))], [{ text: 'x', thoughtSignature }]],
    [[own(text(''))], [{ text: '', thoughtSignature }]],
    [
      [own(call('a')), call('b')],
      [{ ...called, thoughtSignature }, { functionCall: { id: 'b', name: 'f', args: {} } }],
    ],
    [
      [reasoning, text('x')],
      [{ text: 'A\n\nB', thought: true, thoughtSignature }, { text: 'x' }],
    ],
    // From dialects that prove only reasoning, the proof of a call arrives as that of the reasoning before it.
    [[reasoning, call('a')], [{ ...called, thoughtSignature }]],
    [[hidden, text('x')], [{ text: 'x', thoughtSignature }]],
    [
      [text('x'), hidden],
      [{ text: 'x' }, { text: '', thoughtSignature }],
    ],
    [
      [hidden, own(call('a'))],
      [
        { text: '', thoughtSignature },
        { ...called, thoughtSignature },
      ],
    ],
  ];
  for (const [parts, expected] of cases)
    assert.deepEqual(partsOf([user(text('q')), assistant(...parts)], 1), expected, JSON.stringify(parts));
});

test('a model that requires signatures gets the documented one on the first call of each turn that has none', () => {
  const turns = [
    user(text('q')),
    assistant(text('x'), { ...call('a'), proof: foreign }, call('b')),
    user(result('a', '1'), result('b', '2')),
    assistant({ ...call('c'), proof: gemini }),
    user(result('c', '3')),
    assistant(call('d')),
    user(result('d', '4')),
  ];
  const { body, notes } = encode({ turns }, { requiresProofs: true });
  const signatures = (body.contents as { parts: JsonObject[] }[]).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.functionCall === undefined ? [] : [part.thoughtSignature])),
  );
  const dummy = 'skip_thought_signature_validator';
  assert.deepEqual(signatures, [dummy, undefined, 'AbCd', dummy]);
  assert.deepEqual(notes, ['adapted contents']);
});

test('media are sent inline, as text, or by address if the model fetches it; files of others and addresses elsewhere are refused', () => {
  const media = (source: object, more: object = {}): Part =>
    ({ kind: 'media', media: 'file', source, path: 'messages.0', ...more }) as Part;
  const { body } = encode({
    turns: [
      user(
        media({ kind: 'inline', mediaType: 'application/pdf', data: 'AAAA' }, { title: 'T', context: 'C' }),
        media({ kind: 'text', text: 'é' }),
        media({ kind: 'url', url: 'https://example.org/a.png', mediaType: 'image/png' }),
      ),
    ],
  });
  assert.deepEqual((body.contents as { parts: unknown }[])[0]?.parts, [
    { text: 'Title: T\nContext: C' },
    { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
    { inlineData: { mimeType: 'text/plain', data: Buffer.from('é').toString('base64') } },
    { fileData: { mimeType: 'image/png', fileUri: 'https://example.org/a.png' } },
  ]);
  for (const source of [
    { kind: 'vendor-file', id: 'file-1' },
    { kind: 'url', url: 'https://example.org' },
  ]) {
    assert.throws(
      () => encode({ turns: [user(media(source))] }, { fetchesUrls: false }),
      (error) => error instanceof GatewayError && error.param === 'messages.0',
    );
  }
});

test('an image in a result stays in it, or follows all results if the model does not support it there', () => {
  const image: Part = { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AAAA' } };
  const turns = [
    user(text('q')),
    assistant(call('a'), call('b')),
    user(
      { kind: 'tool-result', callId: 'a', content: [{ kind: 'text', text: 'seen' }, image], isError: false },
      {
        kind: 'tool-result',
        callId: 'b',
        content: [image],
        isError: false,
      },
    ),
  ];
  const inlineData = { mimeType: 'image/png', data: 'AAAA' };
  const response = (id: string, words: string, parts?: unknown) => ({
    functionResponse: { id, name: 'f', response: { result: words }, ...(parts === undefined ? {} : { parts }) },
  });
  assert.deepEqual(partsOf(turns, 2), [
    response('a', 'seen', [{ inlineData }]),
    response('b', 'See the attached media.', [{ inlineData }]),
  ]);
  assert.deepEqual(partsOf(turns, 2, { imagesInToolResults: false }), [
    response('a', 'seen'),
    response('b', 'The image follows.'),
    { text: 'The image returned by the call a:' },
    { inlineData },
    { text: 'The image returned by the call b:' },
    { inlineData },
  ]);
});

test('all images have one resolution: the highest that any requests', () => {
  const resolutionOf = (...details: (string | undefined)[]): unknown => {
    const images = details.map(
      (detail) =>
        ({
          kind: 'media',
          media: 'image',
          source: { kind: 'inline', mediaType: 'image/png', data: 'AA==' },
          ...(detail && { detail }),
        }) as Part,
    );
    const { body, notes } = encode({ turns: [user(...images)] });
    return [(body.generationConfig as JsonObject | undefined)?.mediaResolution, notes];
  };
  assert.deepEqual(resolutionOf(undefined, 'auto'), [undefined, []]);
  assert.deepEqual(resolutionOf('low', 'low'), ['MEDIA_RESOLUTION_LOW', []]);
  assert.deepEqual(resolutionOf('high'), ['MEDIA_RESOLUTION_HIGH', []]);
  assert.deepEqual(resolutionOf('low', 'high'), ['MEDIA_RESOLUTION_HIGH', ['adapted contents']]);
  assert.deepEqual(resolutionOf('low', undefined), [undefined, ['adapted contents']]);
});

test('records of other vendors’ tools are handled', () => {
  const code: Part = { kind: 'server-tool', tool: 'code-execution', id: '1', input: ['print(1)'], results: [{ text: '1' }], wire: [] };
  const search: Part = { kind: 'server-tool', tool: 'web-search', id: '2', input: ['q'], wire: [] };
  const turns = [user(text('q')), assistant(code, search, text('x')), user(text('r'))];
  assert.deepEqual(partsOf(turns, 1, {}, { tools: [{ kind: 'code-execution' }] }), [
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { text: 'x' },
  ]);
  assert.deepEqual(partsOf(turns, 1), [{ text: '[Code that was run]\n```\nprint(1)\n```\n[Its output]\n```\n1\n```' }, { text: 'x' }]);
  assert.deepEqual(encode({ turns }).notes, ['adapted contents', 'dropped contents']);
  const vendor = (elsewhere: 'drop' | 'refuse'): Part => ({ kind: 'vendor', name: 'computer_call', wire: {}, elsewhere, path: 'input[1]' });
  assert.deepEqual(encode({ turns: [user(text('q')), assistant(vendor('drop'))] }).notes, ['dropped input[1]']);
  assert.throws(
    () => encode({ turns: [user(vendor('refuse'))] }),
    (error) => error instanceof GatewayError && error.param === 'input[1]',
  );
});
