import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { InferenceRequest, Part, Turn } from '../../../inference/inference-request.ts';
import { encode } from './testing/test-kit.ts';

const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const text = (said: string, path?: string): Part => ({ kind: 'text', text: said, ...(path === undefined ? {} : { path }) });
const weather = { kind: 'function', name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } as const;
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
const loop: readonly Turn[] = [
  user(text('Bern?')),
  assistant({ kind: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' }),
  user({ kind: 'tool-result', callId: 'call_1', content: [{ kind: 'text', text: 'rain' }], isError: true }),
];

describe('messages', () => {
  test('settings have their members, and none is invented', () => {
    const { body, notes } = encode({
      instructions: [{ kind: 'text', text: 'Be short.' }],
      outputTokensMax: 200,
      sampling: { temperature: 0.5, topP: 0.9, topK: 20 },
      stopSequences: ['END'],
      serviceTier: 'priority',
    });
    assert.deepEqual(body, {
      system: [{ text: 'Be short.' }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 200, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: { inferenceConfig: { topK: 20 } },
      serviceTier: { type: 'priority' },
    });
    assert.deepEqual(notes, []);
  });

  test('a tool loop has its ids, its input as an object and the state of its results', () => {
    const { body } = encode({ turns: loop, tools: [weather] });
    assert.deepEqual(body.messages, [
      { role: 'user', content: [{ text: 'Bern?' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Bern' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'call_1', content: [{ text: 'rain' }], status: 'error' } }] },
    ]);
  });

  test('a model without a state of results reads of the error in its text', () => {
    const { body } = encode({ turns: loop, tools: [weather] }, { resultStatus: false });
    assert.match(JSON.stringify(body.messages), /"content":\[\{"text":"Error:"\},\{"text":"rain"\}\]\}\}/);
  });

  test('images and documents are bytes, with names that the vendor accepts and that differ', () => {
    const pdf = { kind: 'media', media: 'file', source: { kind: 'inline', mediaType: 'application/pdf', data: 'JVBERg==' } } as const;
    const { body } = encode({
      turns: [
        user(
          { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'iVBORw==' } },
          { ...pdf, filename: 'Übersicht_2026!.pdf' },
          { ...pdf, filename: 'Übersicht_2026!.pdf' },
          { kind: 'media', media: 'file', source: { kind: 'text', text: 'plain' } },
        ),
      ],
    });
    assert.deepEqual(body.messages, [
      {
        role: 'user',
        content: [
          { image: { format: 'png', source: { bytes: 'iVBORw==' } } },
          { document: { format: 'pdf', name: 'Ubersicht 2026', source: { bytes: 'JVBERg==' } } },
          { document: { format: 'pdf', name: 'Ubersicht 2026 2', source: { bytes: 'JVBERg==' } } },
          { document: { format: 'txt', name: 'document', source: { bytes: 'cGxhaW4=' } } },
          { text: '.' },
        ],
      },
    ]);
  });

  test('media that a model does not read are refused by their place; a text document becomes text', () => {
    const image: Part = {
      kind: 'media',
      media: 'image',
      source: { kind: 'inline', mediaType: 'image/png', data: 'iVBORw==' },
      path: 'messages.0.content.1',
    };
    assert.throws(() => encode({ turns: [user(text('Look'), image)] }, { media: [] }), {
      code: 'untranslatable_field',
      param: 'messages.0.content.1',
    });
    const { body, notes } = encode(
      { turns: [user({ kind: 'media', media: 'file', source: { kind: 'text', text: 'plain' } })] },
      { media: [] },
    );
    assert.deepEqual(body.messages, [{ role: 'user', content: [{ text: 'plain' }] }]);
    assert.deepEqual(notes, ['adapted messages']);
  });

  test('reasoning returns with its signature to its maker, and to no other', () => {
    const turns = [
      user(text('Why?')),
      assistant({ kind: 'reasoning', text: ['So.'], proof: { origin: 'bedrock/amazon', blob: 'c2ln' } }, text('Because.')),
      user(text('And?')),
    ];
    assert.match(JSON.stringify(encode({ turns }).body), /"reasoningText":\{"text":"So\.","signature":"c2ln"\}/);
    const foreign = turns.with(
      1,
      assistant({ kind: 'reasoning', text: ['So.'], proof: { origin: 'bedrock', blob: 'c2ln' } }, text('Because.')),
    );
    const { body, notes } = encode({ turns: foreign });
    assert.doesNotMatch(JSON.stringify(body), /reasoning/);
    assert.deepEqual(notes, ['adapted messages']);
  });

  test('hidden reasoning returns as it came', () => {
    const proof = { origin: 'bedrock/amazon', blob: 'aGlkZGVu', hidden: true };
    const turns = [user(text('Why?')), assistant({ kind: 'reasoning', text: [], proof }, text('Because.')), user(text('And?'))];
    assert.match(JSON.stringify(encode({ turns }).body), /\{"reasoningContent":\{"redactedContent":"aGlkZGVu"\}\}/);
  });

  test('system text stands before the first message of a model that takes none', () => {
    const { body, notes } = encode({ instructions: [{ kind: 'text', text: 'Be short.' }] }, { systemText: false });
    assert.deepEqual(body, { messages: [{ role: 'user', content: [{ text: 'Be short.' }, { text: 'Hi' }] }] });
    assert.deepEqual(notes, ['adapted system']);
  });

  test('a conversation that ends with the assistant goes on with the user', () => {
    const { body, notes } = encode({ turns: [user(text('Hi')), assistant(text('Hel'))] });
    assert.match(JSON.stringify(body.messages), /"role":"user","content":\[\{"text":"Continue/);
    assert.deepEqual(notes, ['adapted messages']);
  });
});

describe('caches', () => {
  const mark = (field: string, ttl?: '1h'): InferenceRequest['vendorFields'][number] => ({
    field: `${field}.cache_control`,
    value: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) },
    weight: 'hint',
  });
  const members = {
    instructions: [{ kind: 'text', text: 'Be short.', path: 'system.0' } as const],
    turns: [user(text('Hi', 'messages.0.content.0'))],
    tools: [{ ...weather, path: 'tools.0' }],
    vendorFields: [mark('system.0'), mark('messages.0.content.0', '1h'), mark('tools.0')],
  };

  test('the marks of Messages become blocks after what they mark, and those that the model does not take are named', () => {
    const { body, notes } = encode(members);
    assert.deepEqual(body.system, [{ text: 'Be short.' }, { cachePoint: { type: 'default' } }]);
    assert.deepEqual(body.messages, [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }]);
    assert.doesNotMatch(JSON.stringify(body.toolConfig), /cachePoint/);
    assert.deepEqual(notes, ['adapted messages.0.content.0.cache_control.ttl', 'dropped tools.0.cache_control']);
  });

  test('a model without a cache gets no block, and the client reads of it', () => {
    const { body, notes } = encode(members, { cachePoints: [] });
    assert.doesNotMatch(JSON.stringify(body), /cachePoint/);
    assert.ok(notes.includes('dropped system.0.cache_control'));
  });
});

describe('functions', () => {
  const toolConfig = (members: Partial<InferenceRequest>, ...more: [Parameters<typeof encode>[1]?]) =>
    encode({ tools: [weather], ...members }, ...more);

  test('each choice is written as the vendor has it', () => {
    const choiceOf = (toolChoice: NonNullable<InferenceRequest['toolChoice']>) =>
      (toolConfig({ toolChoice }).body.toolConfig as { readonly toolChoice?: unknown } | undefined)?.toolChoice;
    assert.equal(choiceOf({ kind: 'auto' }), undefined);
    assert.deepEqual(choiceOf({ kind: 'required' }), { any: {} });
    assert.deepEqual(choiceOf({ kind: 'function', name: 'weather' }), { tool: { name: 'weather' } });
  });

  test('a model that cannot be forced is left to choose, and the client reads of it', () => {
    const { body, notes } = toolConfig({ toolChoice: { kind: 'required' } }, { forcedTools: [] });
    assert.doesNotMatch(JSON.stringify(body), /toolChoice/);
    assert.deepEqual(notes, ['dropped toolConfig.toolChoice']);
  });

  test('a choice of one function is a choice among one if the model cannot be forced by a name', () => {
    const other = { ...weather, name: 'time' };
    const { body } = encode({ tools: [weather, other], toolChoice: { kind: 'function', name: 'time' } }, { forcedTools: ['any'] });
    assert.deepEqual(body.toolConfig, {
      tools: [{ toolSpec: { name: 'time', inputSchema: { json: weather.parameters } } }],
      toolChoice: { any: {} },
    });
  });

  test('without calls in the conversation, a choice of none leaves the functions out; with some, the prompt forbids calls', () => {
    assert.equal(toolConfig({ toolChoice: { kind: 'none' } }).body.toolConfig, undefined);
    const { body, notes } = toolConfig({ toolChoice: { kind: 'none' }, turns: loop });
    assert.deepEqual(body.system, [{ text: 'Call no function in this reply.' }]);
    assert.deepEqual(notes, ['emulated toolConfig.toolChoice']);
  });

  test('a conversation with calls describes their functions even if none is offered', () => {
    assert.match(JSON.stringify(encode({ turns: loop }).body.toolConfig), /"name":"weather"/);
  });

  test('a model without functions refuses them by name', () => {
    assert.throws(() => toolConfig({}, { tools: 'none' }), { code: 'untranslatable_field', param: 'toolConfig.tools' });
  });

  test('a model that streams no calls is asked for a whole reply', () => {
    assert.equal(toolConfig({ stream: true }, { tools: 'whole' }).streams, false);
    assert.equal(encode({ stream: true }, { tools: 'whole' }).streams, undefined);
  });

  test('a schema for a model that takes three members loses the others, which are named if they matter', () => {
    const parameters = { ...schema, additionalProperties: false, $defs: { a: { type: 'string' } } };
    const { body, notes } = encode({ tools: [{ ...weather, parameters, path: 'tools.0' }] }, {}, { jsonSchemaTools: false });
    assert.deepEqual(body.toolConfig, { tools: [{ toolSpec: { name: 'weather', inputSchema: { json: schema } } }] });
    assert.deepEqual(notes, ['adapted tools.0']);
  });
});

describe('output formats and thinking', () => {
  const outputFormat = { kind: 'json-schema', name: 'city', schema } as const;

  test('a schema is sent as a text to models that enforce it', () => {
    const { body } = encode({ outputFormat });
    assert.deepEqual(body.outputConfig, {
      textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(schema), name: 'city' } } },
    });
  });

  test('a function replaces it for models that can be forced to call one, and the prompt for all others', () => {
    const forced = encode({ outputFormat }, {}, { structuredOutput: false });
    assert.equal(forced.answerTool, 'answer');
    assert.match(JSON.stringify(forced.body.toolConfig), /"toolChoice":\{"tool":\{"name":"answer"\}\}/);
    const asked = encode({ outputFormat }, { forcedTools: [] }, { structuredOutput: false });
    assert.equal(asked.answerTool, undefined);
    assert.match(JSON.stringify(asked.body.system), /Answer with JSON of this schema/);
  });

  test('an effort becomes that of the model, and the highest is not sent with a limit', () => {
    const { body } = encode({ reasoning: { mode: 'on', effort: 'low' } });
    assert.deepEqual(body.additionalModelRequestFields, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } });
    const limited = encode({ reasoning: { mode: 'on', effort: 'high' }, outputTokensMax: 500 });
    assert.match(JSON.stringify(limited.body), /"maxReasoningEffort":"medium"/);
    assert.deepEqual(limited.notes, ['adapted additionalModelRequestFields']);
  });

  test('what the interface does not have is named', () => {
    const { notes } = encode({ sampling: { seed: 1, presencePenalty: 1, frequencyPenalty: 1 }, endUser: 'me', verbosity: 'low' });
    assert.deepEqual(notes.toSorted(), [
      'dropped endUser',
      'dropped frequencyPenalty',
      'dropped presencePenalty',
      'dropped seed',
      'dropped verbosity',
    ]);
  });

  test('stop sequences that a model does not take are watched for by the gateway', () => {
    const { body, cutAt } = encode({ stopSequences: ['END'] }, { stopSequencesMax: 0 });
    assert.deepEqual(cutAt, ['END']);
    assert.equal(body.inferenceConfig, undefined);
  });
});
