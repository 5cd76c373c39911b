import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeRequest } from './decode-request.ts';
import { decode } from './testing/test-kit.ts';

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

test('every spelling of a request has the same meaning', () => {
  const camel = decode({
    contents: [{ role: 'user', parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { maxOutputTokens: 9, stopSequences: ['x'], topP: 0.5 },
    tools: [{ googleSearch: {} }],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  });
  const snake = decode({
    contents: { parts: [{ text: 'a' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
    system_instruction: 'Be brief.',
    generation_config: { max_output_tokens: '9', stop_sequences: ['x'], top_p: 0.5, temperature: null },
    tools: { vendor_search: {} },
    tool_config: { function_calling_config: { mode: 'auto' } },
  });
  assert.deepEqual(snake, camel);
  assert.deepEqual(camel, {
    model: 'm',
    dialect: 'gemini-generate-content',
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

test('a count contains only turns or a whole request, and the model of the path or its own', () => {
  const alone = decodeRequest({ operation: 'count-tokens', body: { contents: [{ parts: [{ text: 'a' }] }] }, headers: {}, pathModel: 'm' });
  const inner = { model: 'models/x', contents, system_instruction: 'S' };
  const whole = decodeRequest({ operation: 'count-tokens', body: { generate_content_request: inner }, headers: {} });
  assert.deepEqual([alone.model, alone.turns.length, whole.model, whole.instructions[0]?.text], ['m', 1, 'x', 'S']);
});

test('thinking is read as budget, level, off, or the model’s default', () => {
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
    assert.deepEqual(decode({ generationConfig: { thinkingConfig } }).reasoning, expected, JSON.stringify(thinkingConfig));
  }
  assert.equal(decode({}).reasoning, undefined);
});

test('an answer in JSON has its schema in any of its fields', () => {
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
    // Gemini CLI 0.61 sends this to its router.
    [{ responseMimeType, responseJsonSchema: subset }, schema],
    [{ responseFormat: { text: { mimeType: 'APPLICATION_JSON', schema: json } } }, schema],
    [{ responseFormat: { text: { mimeType: 'APPLICATION_JSON' } } }, { kind: 'json' }],
  ];
  for (const [generationConfig, expected] of cases) {
    const { outputFormat, vendorFields } = decode({ generationConfig });
    assert.deepEqual([outputFormat, vendorFields], [expected, []], JSON.stringify(generationConfig));
  }
});

test('sampling, limits and the tier are read', () => {
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
  const { sampling, outputTokensMax, serviceTier, vendorFields } = decode({ generationConfig, serviceTier: 'flex' });
  assert.deepEqual(sampling, { temperature: 2, topP: 1, topK: 3, seed: 5, presencePenalty: -1, frequencyPenalty: 1 });
  assert.deepEqual([outputTokensMax, serviceTier, vendorFields], [8, 'flex', []]);
  assert.equal(decode({ serviceTier: 'standard' }).serviceTier, 'default');
  assert.equal(decode({ serviceTier: 'unspecified' }).serviceTier, undefined);
});

test('fields without a neutral name are kept, and matter only if they change the answer', () => {
  const safety = (threshold: string) => [{ category: 'HARM_CATEGORY_HARASSMENT', threshold }];
  const cases: readonly (readonly [members: JsonObject, expected: readonly string[]])[] = [
    [{ safetySettings: safety('BLOCK_NONE') }, ['hint safetySettings']],
    [{ safetySettings: safety('BLOCK_ONLY_HIGH') }, ['hint safetySettings']],
    [{ safetySettings: safety('BLOCK_LOW_AND_ABOVE') }, ['matters safetySettings']],
    [{ labels: { team: 'a' }, store: false }, ['hint labels', 'harmless store']],
    [{ hologram: 1 }, ['matters hologram']],
    [
      { generationConfig: { responseLogprobs: true, logprobs: 3 } },
      ['matters generationConfig.responseLogprobs', 'matters generationConfig.logprobs'],
    ],
    [{ generationConfig: { responseLogprobs: false } }, ['harmless generationConfig.responseLogprobs']],
    [{ generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_HIGH' } }, ['matters generationConfig.mediaResolution']],
    [{ generationConfig: { speechConfig: { languageCode: 'de-DE' } } }, ['matters generationConfig.speechConfig']],
    [{ generationConfig: { responseModalities: ['TEXT'] } }, []],
    [{ toolConfig: { retrievalConfig: { languageCode: 'de' } } }, ['matters toolConfig.retrievalConfig']],
  ];
  for (const [members, expected] of cases) {
    assert.deepEqual(
      decode(members).vendorFields.map(({ field, weight }) => `${weight} ${field}`),
      expected,
      JSON.stringify(members),
    );
  }
});

test('a bare enum becomes an object with one of its values, and is refused without values', () => {
  const { outputFormat } = decode({
    generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a', 'b'] } },
  });
  assert.deepEqual(outputFormat, {
    kind: 'json-schema',
    name: 'choice',
    schema: {
      type: 'object',
      properties: { value: { type: 'string', enum: ['a', 'b'] } },
      required: ['value'],
      additionalProperties: false,
    },
  });
  assert.throws(() => decode({ generationConfig: { responseMimeType: 'text/x.enum' } }), {
    code: 'invalid_value',
    param: 'generationConfig.responseSchema',
  });
});

test('features that no other vendor has are refused with the field and an alternative', () => {
  const cases: readonly (readonly [members: JsonObject, param: string])[] = [
    [{ cachedContent: 'cachedContents/x' }, 'cachedContent'],
    [{ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    [{ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, 'generationConfig.responseModalities'],
  ];
  for (const [members, param] of cases) {
    assert.throws(
      () => decode(members),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'untranslatable_field' &&
        error.param === param &&
        error.message.startsWith(`${param}: `),
      param,
    );
  }
});
