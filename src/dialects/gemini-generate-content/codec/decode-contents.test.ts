import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decode } from './testing/test-kit.ts';
import { writeSignature } from './thought-signature.ts';

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

const partsOf = (turns: readonly JsonObject[]) =>
  decode({ contents: turns }).turns.map(({ role, parts }) => ({ role, parts: parts.map(dropPath) }));

const dropPath = (part: object): object => Object.fromEntries(Object.entries(part).filter(([name]) => name !== 'path'));

test('calls without ids are named by their position, and results of parallel calls are matched by order within the name', () => {
  const call = (city: string) => ({ functionCall: { name: 'weather', args: { city } } });
  const result = (name: string, value: string) => ({ functionResponse: { name, response: { result: value } } });
  const conversation = [
    { role: 'user', parts: [{ text: 'q' }] },
    { role: 'model', parts: [call('A'), { functionCall: { name: 'now' } }, call('B')] },
    { role: 'user', parts: [result('now', '12'), result('weather', 'of A')] },
    // A client that sends every result in a turn of its own.
    { role: 'function', parts: [result('weather', 'of B')] },
    { role: 'model', parts: [call('C')] },
    { role: 'tool', parts: [result('weather', 'of C')] },
  ];
  const parts = decode({ contents: conversation }).turns.flatMap((turn) => turn.parts);
  assert.deepEqual(
    parts.flatMap((part) => (part.kind === 'tool-call' ? [[part.id, part.arguments]] : [])),
    [
      ['call_1_0', '{"city":"A"}'],
      ['call_1_1', '{}'],
      ['call_1_2', '{"city":"B"}'],
      ['call_4_0', '{"city":"C"}'],
    ],
  );
  assert.deepEqual(
    parts.flatMap((part) => (part.kind === 'tool-result' ? [[part.callId, part.content[0]?.kind === 'text' && part.content[0].text]] : [])),
    [
      ['call_1_1', '12'],
      ['call_1_0', 'of A'],
      ['call_1_2', 'of B'],
      ['call_4_0', 'of C'],
    ],
  );
});

test('given ids are kept, repeated ones become different, and a result with an unknown id finds its call by order', () => {
  const call = (id: string | undefined, name = 'f') => ({ functionCall: { name, ...(id === undefined ? {} : { id }) } });
  const result = (id: string | undefined, name = 'f') => ({
    functionResponse: { name, response: {}, ...(id === undefined ? {} : { id }) },
  });
  const idsOf = (calls: object[], results: object[]): unknown => {
    const turns = decode({
      contents: [...contents, { role: 'model', parts: calls }, { role: 'user', parts: results }] as JsonObject[],
    }).turns;
    const parts = turns.flatMap((turn) => turn.parts);
    return parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : part.kind === 'tool-result' ? [part.callId] : []));
  };
  assert.deepEqual(idsOf([call('a'), call('b')], [result('b'), result('a')]), ['a', 'b', 'b', 'a']);
  assert.deepEqual(idsOf([call('a'), call('a')], [result('a'), result('a')]), ['a', 'a_1_1', 'a', 'a_1_1']);
  assert.deepEqual(idsOf([call(undefined), call(undefined)], [result('x'), result('y')]), ['call_1_0', 'call_1_1', 'call_1_0', 'call_1_1']);
  assert.deepEqual(idsOf([call('', 'f')], [result('', 'f')]), ['call_1_0', 'call_1_0']);
  // There is no call: the id is unknown, and the upstream's encoder refuses it.
  assert.deepEqual(idsOf([call('a', 'g')], [result(undefined, 'f')]), ['a', 'result_2_0']);
});

test('a repeated result, as when Gemini CLI resumes a session, is noted and left out', () => {
  const path = 'contents[2].parts[0]';
  const result = { functionResponse: { name: 'f', id: 'a', response: { output: 'x' } } };
  const { turns, vendorFields } = decode({
    contents: [
      { role: 'user', parts: [{ text: 'q' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', id: 'a', args: {} } }] },
      { role: 'user', parts: [result, result, result] },
    ],
  });
  assert.deepEqual(turns.at(-1)?.parts, [
    { kind: 'tool-result', callId: 'a', name: 'f', content: [{ kind: 'text', text: 'x', path }], isError: false, path },
  ]);
  assert.deepEqual(
    vendorFields.filter(({ weight }) => weight === 'matters').map(({ field }) => field),
    ['contents[2].parts[1]', 'contents[2].parts[2]'],
  );
});

test('an abandoned call does not take the result of a later one', () => {
  const call = { functionCall: { name: 'f' } };
  const { turns } = decode({
    contents: [
      ...contents,
      { role: 'model', parts: [call] },
      { role: 'user', parts: [{ text: 'never mind' }] },
      { role: 'model', parts: [call] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'r' } } }] },
    ],
  });
  const result = turns.at(-1)?.parts[0];
  assert.equal(result?.kind === 'tool-result' && result.callId, 'call_3_0');
});

test('results become JSON text for objects, errors for errors, with media beside them', () => {
  const results = [
    { result: 'plain' },
    { output: { a: 1 } },
    { a: 1, b: [2] },
    { error: 'broke' },
    { error: { code: 1 } },
    { result: '' },
  ].map((response) => ({ functionResponse: { name: 'f', response, parts: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }] } }));
  const calls = results.map(() => ({ functionCall: { name: 'f' } }));
  const { turns } = decode({ contents: [...contents, { role: 'model', parts: calls }, { role: 'user', parts: results }] });
  assert.deepEqual(
    turns
      .at(-1)
      ?.parts.map(
        (part) =>
          part.kind === 'tool-result' && [
            part.isError,
            ...part.content.map((piece) => (piece.kind === 'text' ? piece.text : piece.source)),
          ],
      ),
    [[false, 'plain'], [false, '{"a":1}'], [false, '{"a":1,"b":[2]}'], [true, 'broke'], [false, '{"error":{"code":1}}'], [false]].map(
      (row) => [...row, { kind: 'inline', mediaType: 'image/png', data: 'AA==' }],
    ),
  );
});

test('pieces of a streamed answer that a client returns separately become one text again', () => {
  const turns = partsOf([
    { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
    { role: 'model', parts: [{ text: 'Think', thought: true }] },
    { role: 'model', parts: [{ text: 'ing.', thought: true }, { text: 'Hel' }] },
    { role: 'model', parts: [{ text: 'lo' }, { text: '', thoughtSignature: 'AbCd' }] },
    { role: 'model', parts: [{ text: 'more' }] },
  ]);
  assert.deepEqual(turns, [
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: ['Thinking.'] },
        { kind: 'text', text: 'Hello', proof: { origin: 'gemini', blob: 'AbCd' } },
        { kind: 'text', text: 'more' },
      ],
    },
  ]);
});

test('signatures stay on their part (BerriAI/litellm#16893, langgenius/dify#29187, anomalyco/opencode#4832, labring/aiproxy#450)', () => {
  const proof = { origin: 'gemini', blob: 'AbCd' };
  const [, turn] = partsOf([
    ...contents,
    {
      role: 'model',
      parts: [
        { text: 'T', thought: true, thoughtSignature: 'AbCd' },
        { text: 'x', thoughtSignature: 'AbCd' },
        { functionCall: { name: 'f', id: '1' }, thoughtSignature: 'AbCd' },
        { functionCall: { name: 'g', id: '2' }, thoughtSignature: 'skip_thought_signature_validator' },
        { thoughtSignature: 'AbCd' },
      ],
    },
  ]);
  assert.deepEqual(turn?.parts, [
    { kind: 'reasoning', text: ['T'], proof },
    { kind: 'text', text: 'x', proof },
    { kind: 'tool-call', id: '1', name: 'f', arguments: '{}', proof },
    { kind: 'tool-call', id: '2', name: 'g', arguments: '{}' },
    { kind: 'reasoning', text: [], proof },
  ]);
});

test('reasoning of another vendor is restored from its signature, with or without the thoughts of the client', () => {
  const proof = { origin: 'anthropic', blob: 'sig+/=' };
  const signature = writeSignature({ proof, text: ['First.', 'Second.'], itemId: 'rs_1' });
  const reasoning = { kind: 'reasoning', text: ['First.', 'Second.'], proof, itemId: 'rs_1' };
  const call = { functionCall: { name: 'f', id: '1' }, thoughtSignature: signature };
  const called = { kind: 'tool-call', id: '1', name: 'f', arguments: '{}' };
  const cases: readonly (readonly [parts: JsonObject[], expected: object[]])[] = [
    [
      [{ text: 'First.\n\nSecond.', thought: true }, call],
      [reasoning, called],
    ],
    [[call], [reasoning, called]],
    [
      [{ text: 'Hel', thoughtSignature: signature }, { text: 'lo' }],
      [reasoning, { kind: 'text', text: 'Hello' }],
    ],
    [
      [{ text: 'a', thought: true, thoughtSignature: signature }, { text: 'b' }],
      [reasoning, { kind: 'text', text: 'b' }],
    ],
    [
      [{ text: 'a' }, { text: '', thoughtSignature: signature }],
      [{ kind: 'text', text: 'a' }, reasoning],
    ],
  ];
  for (const [parts, expected] of cases) assert.deepEqual(partsOf([...contents, { role: 'model', parts }])[1]?.parts, expected);
});

test('thoughts outside the signature are those before it, and a damaged signature is ignored', () => {
  const proof = { origin: 'openai', blob: 'enc', hidden: true };
  const bare = Buffer.from(wrapProof(proof)).toString('base64');
  const parts = [
    { text: 'T', thought: true },
    { text: 'x', thoughtSignature: bare },
  ];
  assert.deepEqual(partsOf([...contents, { role: 'model', parts }])[1]?.parts, [
    { kind: 'reasoning', text: ['T'], proof },
    { kind: 'text', text: 'x' },
  ]);
  const damaged = [{ text: 'x', thoughtSignature: bare.slice(0, 12) }];
  assert.deepEqual(partsOf([...contents, { role: 'model', parts: damaged }])[1]?.parts, [{ kind: 'text', text: 'x' }]);
});

test('media are read by type, with the single resolution of the request', () => {
  const media = (mimeType: string) => ({ inlineData: { mimeType, data: '_-8' } });
  const { turns, vendorFields } = decode({
    contents: [
      { parts: [media('image/webp'), media('audio/wav'), { ...media('video/mp4'), videoMetadata: { fps: 2 } }, media('application/pdf')] },
    ],
    generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' },
  });
  assert.deepEqual(
    turns[0]?.parts.map((part) => part.kind === 'media' && [part.media, part.detail, part.source.kind === 'inline' && part.source.data]),
    [
      ['image', 'low', '/+8='],
      ['audio', undefined, '/+8='],
      ['video', undefined, '/+8='],
      ['file', undefined, '/+8='],
    ],
  );
  assert.deepEqual(
    vendorFields.map(({ field, weight }) => [field, weight]),
    [
      ['generationConfig.mediaResolution', 'harmless'],
      ['contents[0].parts[2].videoMetadata', 'matters'],
    ],
  );
});

test('code and its output become one record', () => {
  const wire = [
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'no' } },
  ];
  const [, turn] = partsOf([...contents, { role: 'model', parts: [...wire, { text: 'x' }] }]);
  assert.deepEqual(turn?.parts, [
    { kind: 'server-tool', tool: 'code-execution', id: 'code_1_0', input: ['print(1)'], results: [{ text: 'no' }], failed: true, wire },
    { kind: 'text', text: 'x' },
  ]);
});

test('records of this vendor may be left out, other parts of it may not', () => {
  const [, turn] = partsOf([...contents, { role: 'model', parts: [{ toolCall: { id: '1', toolType: 'X' } }, { hologram: {} }] }]);
  assert.deepEqual(
    turn?.parts.map((part) => ('elsewhere' in part ? [part.elsewhere] : [])),
    [['drop'], ['refuse']],
  );
});
