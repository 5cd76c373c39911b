import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { validateRequest } from '../validate-request.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeBody } from './test-kit.ts';
import { writeSignature } from './thought-signature.ts';

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

const decodeWith = (members: JsonObject): InferenceRequest => {
  const body = { contents, ...members };
  validateRequest({ operation: 'generate', body, headers: {}, pathModel: 'm' }, 'compatible');
  return decodeBody(body);
};

const partsOf = (turns: readonly JsonObject[]) =>
  decodeWith({ contents: turns }).turns.map(({ role, parts }) => ({ role, parts: parts.map(dropPath) }));

const dropPath = (part: object): object => Object.fromEntries(Object.entries(part).filter(([name]) => name !== 'path'));

test('every spelling of one request means the same', () => {
  const camel = decodeWith({
    contents: [{ role: 'user', parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { maxOutputTokens: 9, stopSequences: ['x'], topP: 0.5 },
    tools: [{ googleSearch: {} }],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  });
  const snake = decodeWith({
    contents: { parts: [{ text: 'a' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
    system_instruction: 'Be brief.',
    generation_config: { max_output_tokens: '9', stop_sequences: ['x'], top_p: 0.5, temperature: null },
    tools: { vendor_search: {} },
    tool_config: { function_calling_config: { mode: 'auto' } },
  });
  assert.deepEqual(snake, camel);
  assert.deepEqual(camel, {
    model: 'm',
    stream: false,
    instructions: [{ kind: 'text', text: 'Be brief.', path: 'systemInstruction.parts[0]' }],
    turns: [
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'a', path: 'contents[0].parts[0]' },
          { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AAAA' }, path: 'contents[0].parts[1]' },
        ],
      },
    ],
    tools: [{ kind: 'web-search', path: 'tools[0].googleSearch' }],
    toolChoice: { kind: 'auto' },
    sampling: { topP: 0.5 },
    outputTokensMax: 9,
    stopSequences: ['x'],
    vendorFields: [],
  });
});

test('a count holds the turns alone or a whole request, and the model of the path or its own', () => {
  const alone = decodeRequest({ operation: 'count-tokens', body: { contents: [{ parts: [{ text: 'a' }] }] }, headers: {}, pathModel: 'm' });
  const inner = { model: 'models/x', contents, system_instruction: 'S' };
  const whole = decodeRequest({ operation: 'count-tokens', body: { generate_content_request: inner }, headers: {} });
  assert.deepEqual([alone.model, alone.turns.length, whole.model, whole.instructions[0]?.text], ['m', 1, 'x', 'S']);
});

test('calls without ids are named by their place, and results of parallel calls are matched by order within the name', () => {
  const call = (city: string) => ({ functionCall: { name: 'weather', args: { city } } });
  const result = (name: string, value: string) => ({ functionResponse: { name, response: { result: value } } });
  const conversation = [
    { role: 'user', parts: [{ text: 'q' }] },
    { role: 'model', parts: [call('A'), { functionCall: { name: 'now' } }, call('B')] },
    { role: 'user', parts: [result('now', '12'), result('weather', 'of A')] },
    // A client that sends every result as a turn of its own.
    { role: 'function', parts: [result('weather', 'of B')] },
    { role: 'model', parts: [call('C')] },
    { role: 'tool', parts: [result('weather', 'of C')] },
  ];
  const parts = decodeWith({ contents: conversation }).turns.flatMap((turn) => turn.parts);
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

test('given ids are kept, repeated ones told apart, and a result whose id nobody gave finds its call by order', () => {
  const call = (id: string | undefined, name = 'f') => ({ functionCall: { name, ...(id === undefined ? {} : { id }) } });
  const result = (id: string | undefined, name = 'f') => ({
    functionResponse: { name, response: {}, ...(id === undefined ? {} : { id }) },
  });
  const idsOf = (calls: object[], results: object[]): unknown => {
    const turns = decodeWith({
      contents: [...contents, { role: 'model', parts: calls }, { role: 'user', parts: results }] as JsonObject[],
    }).turns;
    const parts = turns.flatMap((turn) => turn.parts);
    return parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : part.kind === 'tool-result' ? [part.callId] : []));
  };
  assert.deepEqual(idsOf([call('a'), call('b')], [result('b'), result('a')]), ['a', 'b', 'b', 'a']);
  assert.deepEqual(idsOf([call('a'), call('a')], [result('a'), result('a')]), ['a', 'a_1_1', 'a', 'a_1_1']);
  assert.deepEqual(idsOf([call(undefined), call(undefined)], [result('x'), result('y')]), ['call_1_0', 'call_1_1', 'call_1_0', 'call_1_1']);
  assert.deepEqual(idsOf([call('', 'f')], [result('', 'f')]), ['call_1_0', 'call_1_0']);
  // Nobody was called: the id is unknown to all, and the upstream's encoder refuses it.
  assert.deepEqual(idsOf([call('a', 'g')], [result(undefined, 'f')]), ['a', 'result_2_0']);
});

test('a result that is said again, as when Gemini CLI resumes a session, is named and left out', () => {
  const path = 'contents[2].parts[0]';
  const result = { functionResponse: { name: 'f', id: 'a', response: { output: 'x' } } };
  const { turns, vendorFields } = decodeWith({
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
    vendorFields.map(({ field }) => field),
    ['contents[2].parts[1]', 'contents[2].parts[2]'],
  );
});

test('a call that was given up does not take the result of a later one', () => {
  const call = { functionCall: { name: 'f' } };
  const { turns } = decodeWith({
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

test('results: objects as JSON text, errors as errors, media beside them', () => {
  const results = [
    { result: 'plain' },
    { output: { a: 1 } },
    { a: 1, b: [2] },
    { error: 'broke' },
    { error: { code: 1 } },
    { result: '' },
  ].map((response) => ({ functionResponse: { name: 'f', response, parts: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }] } }));
  const calls = results.map(() => ({ functionCall: { name: 'f' } }));
  const { turns } = decodeWith({ contents: [...contents, { role: 'model', parts: calls }, { role: 'user', parts: results }] });
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

test('pieces of a streamed answer that a client sends back one by one are one text again', () => {
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

test('signatures stay on the part they came with (BerriAI/litellm#16893, langgenius/dify#29187, anomalyco/opencode#4832, labring/aiproxy#450)', () => {
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

test('reasoning of another vendor is restored from the signature it travelled in, whether the client kept the thoughts or not', () => {
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

test('thoughts that did not travel along are those before the signature, and a damaged signature is none', () => {
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

test('media by type, with the one resolution of the request', () => {
  const media = (mimeType: string) => ({ inlineData: { mimeType, data: '_-8' } });
  const { turns, vendorFields } = decodeWith({
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

test('code that was run is one record, its output with it', () => {
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

test('parts that only this vendor knows: records may be left out, others not', () => {
  const [, turn] = partsOf([...contents, { role: 'model', parts: [{ toolCall: { id: '1', toolType: 'X' } }, { hologram: {} }] }]);
  assert.deepEqual(
    turn?.parts.map((part) => ('elsewhere' in part ? [part.elsewhere] : [])),
    [['drop'], ['refuse']],
  );
});

test('tools of every kind, one search for several of its forms', () => {
  const { tools, vendorFields } = decodeWith({
    tools: [
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'F',
            parameters: {
              type: 'object',
              properties: { a: { type: 'STRING', nullable: true }, b: { type: 'ARRAY', items: { type: 'INTEGER', format: 'int32' } } },
            },
          },
          { name: 'g', parametersJsonSchema: { type: 'object', additionalProperties: false } },
          { name: 'h' },
        ],
      },
      { google_search: { timeRangeFilter: { startTime: 's', endTime: 'e' } }, codeExecution: {} },
      { vendor_search_retrieval: { dynamicRetrievalConfig: { dynamicThreshold: 0.5 } } },
      { url_context: {} },
    ],
  });
  assert.deepEqual(
    tools.map((tool) => ({ ...tool, path: undefined })),
    [
      {
        kind: 'function',
        name: 'f',
        description: 'F',
        parameters: { type: 'object', properties: { a: { type: ['string', 'null'] }, b: { type: 'array', items: { type: 'integer' } } } },
        path: undefined,
      },
      { kind: 'function', name: 'g', parameters: { type: 'object', additionalProperties: false }, path: undefined },
      { kind: 'function', name: 'h', path: undefined },
      { kind: 'web-search', path: undefined },
      { kind: 'code-execution', path: undefined },
      { kind: 'vendor', name: 'urlContext', wire: { urlContext: {} }, path: undefined },
    ],
  );
  assert.deepEqual(
    vendorFields.map(({ field, weight }) => [field, weight]),
    [
      ['tools[1].googleSearch.timeRangeFilter', 'matters'],
      ['tools[2].googleSearchRetrieval.dynamicRetrievalConfig', 'matters'],
    ],
  );
});

test('modes of function calling', () => {
  const cases: readonly (readonly [config: JsonObject, expected: unknown])[] = [
    [{}, undefined],
    [{ mode: 'MODE_UNSPECIFIED' }, undefined],
    [{ mode: 'AUTO' }, { kind: 'auto' }],
    [{ mode: 'VALIDATED' }, { kind: 'auto' }],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
      { kind: 'allowed', names: ['f'], required: false },
    ],
    [{ mode: 'NONE' }, { kind: 'none' }],
    [{ mode: 'ANY' }, { kind: 'required' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      { kind: 'function', name: 'f' },
    ],
    [
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
      { kind: 'allowed', names: ['f', 'g'], required: true },
    ],
  ];
  for (const [functionCallingConfig, expected] of cases) {
    assert.deepEqual(decodeWith({ toolConfig: { functionCallingConfig } }).toolChoice, expected, JSON.stringify(functionCallingConfig));
  }
});

test('thinking: budget, level, off, the model’s own measure', () => {
  const cases: readonly (readonly [config: JsonObject, expected: unknown])[] = [
    [{ thinkingBudget: 0 }, { mode: 'off' }],
    [{ thinkingBudget: -1 }, { mode: 'auto', wantsProofs: true }],
    [
      { thinkingBudget: 512, includeThoughts: true },
      { mode: 'on', budgetTokens: 512, visible: true, wantsProofs: true },
    ],
    [
      { thinkingLevel: 'low', includeThoughts: false },
      { mode: 'on', effort: 'low', visible: false, wantsProofs: true },
    ],
    [{ includeThoughts: true }, { mode: 'auto', visible: true, wantsProofs: true }],
  ];
  for (const [thinkingConfig, expected] of cases) {
    assert.deepEqual(decodeWith({ generationConfig: { thinkingConfig } }).reasoning, expected, JSON.stringify(thinkingConfig));
  }
  assert.equal(decodeWith({}).reasoning, undefined);
});

test('an answer in JSON, with the schema in any of its places', () => {
  const json = { type: 'object', properties: { a: { type: 'string' } } };
  const subset = { type: 'OBJECT', properties: { a: { type: 'STRING' } } };
  const responseMimeType = 'application/json';
  const schema = { kind: 'json-schema', schema: json };
  const cases: readonly (readonly [config: JsonObject, expected: unknown])[] = [
    [{ responseMimeType: 'text/plain' }, undefined],
    [{ responseMimeType }, { kind: 'json' }],
    [{ responseMimeType, responseSchema: subset }, schema],
    [{ responseMimeType, responseJsonSchema: json }, schema],
    [{ responseMimeType, _responseJsonSchema: json }, schema],
    // Gemini CLI 0.61 asks its router so.
    [{ responseMimeType, responseJsonSchema: subset }, schema],
    [{ responseFormat: { text: { mimeType: 'APPLICATION_JSON', schema: json } } }, schema],
    [{ responseFormat: { text: { mimeType: 'APPLICATION_JSON' } } }, { kind: 'json' }],
  ];
  for (const [generationConfig, expected] of cases) {
    const { outputFormat, vendorFields } = decodeWith({ generationConfig });
    assert.deepEqual([outputFormat, vendorFields], [expected, []], JSON.stringify(generationConfig));
  }
});

test('sampling, limits and the tier', () => {
  const generationConfig = {
    temperature: 2,
    topP: 1,
    topK: 3,
    seed: '5',
    presencePenalty: -1,
    frequencyPenalty: 1,
    maxOutputTokens: 8,
    candidateCount: 1,
  };
  const { sampling, outputTokensMax, serviceTier, vendorFields } = decodeWith({ generationConfig, serviceTier: 'flex' });
  assert.deepEqual(sampling, { temperature: 2, topP: 1, topK: 3, seed: 5, presencePenalty: -1, frequencyPenalty: 1 });
  assert.deepEqual([outputTokensMax, serviceTier, vendorFields], [8, 'flex', []]);
  assert.equal(decodeWith({ serviceTier: 'standard' }).serviceTier, 'default');
  assert.equal(decodeWith({ serviceTier: 'unspecified' }).serviceTier, undefined);
});

test('what has no neutral name is kept, and matters only where it changes the answer', () => {
  const safety = (threshold: string) => [{ category: 'HARM_CATEGORY_HARASSMENT', threshold }];
  const cases: readonly (readonly [members: JsonObject, expected: readonly string[]])[] = [
    [{ safetySettings: safety('BLOCK_NONE') }, ['harmless safetySettings']],
    [{ safetySettings: safety('BLOCK_ONLY_HIGH') }, ['harmless safetySettings']],
    [{ safetySettings: safety('BLOCK_LOW_AND_ABOVE') }, ['matters safetySettings']],
    [{ labels: { team: 'a' }, store: false }, ['harmless labels', 'harmless store']],
    [{ hologram: 1 }, ['matters hologram']],
    [
      { generationConfig: { responseLogprobs: true, logprobs: 3 } },
      ['matters generationConfig.responseLogprobs', 'matters generationConfig.logprobs'],
    ],
    [{ generationConfig: { responseLogprobs: false } }, []],
    [{ generationConfig: { speechConfig: { languageCode: 'de-DE' } } }, ['matters generationConfig.speechConfig']],
    [{ generationConfig: { responseModalities: ['TEXT'] } }, []],
    [{ toolConfig: { retrievalConfig: { languageCode: 'de' } } }, ['matters toolConfig.retrievalConfig']],
  ];
  for (const [members, expected] of cases) {
    assert.deepEqual(
      decodeWith(members).vendorFields.map(({ field, weight }) => `${weight} ${field}`),
      expected,
      JSON.stringify(members),
    );
  }
});

test('what no other vendor can do is refused, naming the field and what to do instead', () => {
  const cases: readonly (readonly [members: JsonObject, param: string])[] = [
    [{ cachedContent: 'cachedContents/x' }, 'cachedContent'],
    [{ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    [{ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, 'generationConfig.responseModalities'],
    [
      { generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } } },
      'generationConfig.responseMimeType',
    ],
  ];
  for (const [members, param] of cases) {
    assert.throws(
      () => decodeWith(members),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'untranslatable_field' &&
        error.param === param &&
        error.message.startsWith(`${param}: `),
      param,
    );
  }
});
