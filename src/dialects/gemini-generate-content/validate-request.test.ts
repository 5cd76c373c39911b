import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import { validateRequest } from './validate-request.ts';

const modes = ['compatible', 'documented'] as const;

type Fields = Record<string, JsonValue>;

function refusal(body: JsonObject, mode: ValidationMode, operation: Operation = 'generate'): GatewayError | undefined {
  try {
    validateRequest({ operation, body, headers: {}, pathModel: 'm' }, mode);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.status, 400);
    return error;
  }
}

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
const base: Fields = { contents };
const parts = (...list: JsonValue[]): Fields => ({ contents: [{ role: 'user', parts: list }] });
const config = (fields: Fields): Fields => ({ generationConfig: fields });
const tool = (fields: Fields): Fields => ({ tools: [fields] });
const declaration = (fields: Fields): Fields => tool({ functionDeclarations: [{ name: 'f', ...fields }] });
const parameters = (fields: Fields): Fields => declaration({ parameters: fields });
const calling = (fields: Fields): Fields => ({ toolConfig: { functionCallingConfig: fields } });
const safety = (fields: Fields): Fields => ({ safetySettings: [fields] });
const list = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`);

const categories = [
  'UNSPECIFIED',
  'DEROGATORY',
  'TOXICITY',
  'VIOLENCE',
  'SEXUAL',
  'MEDICAL',
  'DANGEROUS',
  'HARASSMENT',
  'HATE_SPEECH',
].concat('SEXUALLY_EXPLICIT', 'DANGEROUS_CONTENT', 'CIVIC_INTEGRITY');
const thresholds = [
  'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
  'BLOCK_LOW_AND_ABOVE',
  'BLOCK_MEDIUM_AND_ABOVE',
  'BLOCK_ONLY_HIGH',
  'BLOCK_NONE',
  'OFF',
];

/** Accepted in both modes: every field and form of contract C, at its limits. */
const accepted: readonly Fields[] = [
  {},
  { contents: { parts: { text: 'x' } } },
  { contents: [{ parts: [{}] }] },
  ...['user', 'model', 'function', 'tool'].map((role) => ({ contents: [{ role, parts: [{ text: 'x' }] }] })),
  parts({ inlineData: { mimeType: 'image/png', data: 'aGk=' } }),
  parts({ inline_data: { mime_type: 'application/pdf', data: 'a-_k' } }),
  parts({ functionCall: { name: 'f' } }, { function_call: { name: 'f', args: { snake_case: { mime_type: 1, mimeType: 2 } } } }),
  parts({ functionResponse: { name: 'f', response: { inline_data: 1, inlineData: 2 } } }),
  ...['LANGUAGE_UNSPECIFIED', 'PYTHON', 1].map((language) => parts({ executableCode: { language, code: 'x' } })),
  ...['OUTCOME_UNSPECIFIED', 'OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED', 3].map((outcome) =>
    parts({ codeExecutionResult: { outcome, output: 'x' } }),
  ),
  { systemInstruction: { parts: [{ text: 'x' }], role: 'user' } },
  { system_instruction: { parts: { text: 'x' } } },
  { systemInstruction: 'x' },
  { systemInstruction: [{ text: 'x' }] },
  declaration({ description: 'd' }),
  parameters({ type: 'OBJECT', properties: { mime_type: { type: 'STRING' }, mimeType: { type: 'STRING' } }, required: ['mime_type'] }),
  parameters({ type: 'object', properties: { a: { type: 'array', items: { type: 'string', enum: ['x'], nullable: true } } } }),
  parameters({
    type: 'ARRAY',
    items: { type: 3, format: 'int32', minimum: 0, maximum: 9, description: 'd', example: 4 },
    minItems: '1',
    max_items: '5',
  }),
  parameters({ type: 'STRING', minLength: 0, maxLength: 10 }),
  tool({ codeExecution: {} }),
  { tools: { code_execution: {} } },
  ...['vendor_search', 'vendorSearch', 'google_search', 'googleSearch'].map((name) => tool({ [name]: {} })),
  ...['vendor_search_retrieval', 'vendorSearchRetrieval', 'google_search_retrieval'].map((name) => tool({ [name]: {} })),
  tool({ vendor_search: {}, codeExecution: {}, functionDeclarations: [{ name: 'f' }], urlContext: {} }),
  ...['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 2].map((mode) => calling({ mode, allowedFunctionNames: ['f'] })),
  ...categories.map((name) => safety({ category: `HARM_CATEGORY_${name}`, threshold: 'OFF' })),
  ...thresholds.map((threshold) => safety({ category: 'HARM_CATEGORY_HARASSMENT', threshold })),
  safety({ category: 7, threshold: 5 }),
  { cachedContent: 'cachedContents/abc' },
  config({ stopSequences: list(5), candidateCount: 1, maxOutputTokens: 1, temperature: 0, topP: 0, topK: 1 }),
  config({ temperature: 2, topP: 1, topK: 40, seed: -7, presencePenalty: 0.5, frequencyPenalty: -0.5 }),
  config({ responseLogprobs: true, logprobs: 5, enableEnhancedCivicAnswers: false }),
  config({ temperature: '1.5', maxOutputTokens: '100', seed: '12' }),
  config({ temperature: null, maxOutputTokens: null }),
  ...['text/plain', 'application/json', 'text/x.enum'].map((type) => config({ responseMimeType: type })),
  config({ responseSchema: { type: 'OBJECT', properties: {} } }),
  config({ responseModalities: ['TEXT', 'IMAGE', 'AUDIO'] }),
  config({ responseModalities: [1, 3] }),
  ...['UNSPECIFIED', 'LOW', 'MEDIUM', 'HIGH'].map((name) => config({ mediaResolution: `MEDIA_RESOLUTION_${name}` })),
  config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 0 } }),
  config({ speechConfig: { languageCode: 'ar-XA', voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } }),
  config({ speechConfig: { multiSpeakerVoiceConfig: { speakerVoiceConfigs: [{ speaker: 'A', voiceConfig: {} }] } } }),
  { generation_config: { stop_sequences: ['x'], response_mime_type: 'application/json', response_schema: { type: 'STRING' } } },
  { tools: null, toolConfig: null, safetySettings: null, systemInstruction: null, generationConfig: null, cachedContent: null },
];

type Refused = readonly [fields: Fields, param: string, message?: string];

const inlineOnly =
  "files by reference are not supported. Send the bytes as base64 in 'inlineData', with 'mimeType' and 'data' (audio, video and PDF are accepted only so).";

/** Refused in both modes. */
const refused: readonly Refused[] = [
  [{ contents: null }, 'contents', "Missing required field 'contents'."],
  [{ contents: [] }, 'contents', "Invalid value at 'contents': must have at least 1 item, but got 0."],
  [{ contents: 'hi' }, 'contents', "Invalid value at 'contents': must be an array, but got a string."],
  [{ contents: ['hi'] }, 'contents[0]', "Invalid value at 'contents[0]': must be an object, but got a string."],
  [{ contents: [{ role: 'user' }] }, 'contents[0].parts', "Missing required field 'contents[0].parts'."],
  [{ contents: [{ parts: [] }] }, 'contents[0].parts'],
  [{ contents: [{ parts: ['x'] }] }, 'contents[0].parts[0]'],
  [
    { contents: { role: 'robot', parts: { text: 'x' } } },
    'contents.role',
    "Invalid value at 'contents.role': must be one of 'user', 'model', 'function', 'tool', but got 'robot'.",
  ],
  [{ contents: [{ role: 'system', parts: [{ text: 'x' }] }] }, 'contents[0].role'],
  [parts({ text: 5 }), 'contents[0].parts[0].text', "Invalid value at 'contents[0].parts[0].text': must be a string, but got an integer."],
  [
    parts({ inlineData: { data: 'aGk=' } }),
    'contents[0].parts[0].inlineData.mimeType',
    "Missing required field 'contents[0].parts[0].inlineData.mimeType'.",
  ],
  [parts({ inline_data: { mime_type: 'image/png' } }), 'contents[0].parts[0].inline_data.data'],
  [
    parts({ inline_data: { mime_type: 'png', data: '' } }),
    'contents[0].parts[0].inline_data.mime_type',
    "Invalid value at 'contents[0].parts[0].inline_data.mime_type': must be a MIME type such as image/png, but got 'png'.",
  ],
  [parts({ inlineData: { mimeType: 'image/png', data: 'data:image/png;base64,aGk=' } }), 'contents[0].parts[0].inlineData.data'],
  [
    parts({ fileData: { mimeType: 'video/mp4', fileUri: 'https://example.org/v' } }),
    'contents[0].parts[0].fileData',
    `Invalid value at 'contents[0].parts[0].fileData': ${inlineOnly}`,
  ],
  [
    parts({ text: 'x' }, { file_data: {} }),
    'contents[0].parts[1].file_data',
    `Invalid value at 'contents[0].parts[1].file_data': ${inlineOnly}`,
  ],
  [parts({ functionCall: { args: {} } }), 'contents[0].parts[0].functionCall.name'],
  [parts({ functionCall: { name: 'f', args: '{}' } }), 'contents[0].parts[0].functionCall.args'],
  [parts({ functionResponse: { response: {} } }), 'contents[0].parts[0].functionResponse.name'],
  [parts({ functionResponse: { name: 'f' } }), 'contents[0].parts[0].functionResponse.response'],
  [parts({ functionResponse: { name: 'f', response: 'ok' } }), 'contents[0].parts[0].functionResponse.response'],
  [parts({ executableCode: { code: 'x' } }), 'contents[0].parts[0].executableCode.language'],
  [parts({ executableCode: { language: 'COBOL', code: 'x' } }), 'contents[0].parts[0].executableCode.language'],
  [parts({ executableCode: { language: 'PYTHON' } }), 'contents[0].parts[0].executableCode.code'],
  [parts({ codeExecutionResult: { output: 'x' } }), 'contents[0].parts[0].codeExecutionResult.outcome'],
  [{ systemInstruction: 5 }, 'systemInstruction'],
  [{ systemInstruction: {} }, 'systemInstruction.parts'],
  [{ system_instruction: { parts: [{ inline_data: { mime_type: 'image/png', data: '' } }] } }, 'system_instruction.parts[0].text'],
  [
    { systemInstruction: { parts: [{ text: 'x', inlineData: { mimeType: 'image/png', data: '' } }] } },
    'systemInstruction.parts[0].inlineData',
    "Invalid value at 'systemInstruction.parts[0].inlineData': the system instruction takes text only. Every part must have 'text' and nothing else.",
  ],
  [{ systemInstruction: [{ text: 5 }] }, 'systemInstruction[0].text'],
  [{ tools: 'x' }, 'tools'],
  [tool({ functionDeclarations: [{}] }), 'tools[0].functionDeclarations[0].name'],
  [{ tools: { function_declarations: [{}] } }, 'tools.function_declarations[0].name'],
  [declaration({ description: 1 }), 'tools[0].functionDeclarations[0].description'],
  [parameters({ type: 'DATE' }), 'tools[0].functionDeclarations[0].parameters.type'],
  [parameters({ type: 'STRING', maxLength: -1 }), 'tools[0].functionDeclarations[0].parameters.maxLength'],
  [parameters({ type: 'OBJECT', properties: { a_b: { type: 'x' } } }), 'tools[0].functionDeclarations[0].parameters.properties.a_b.type'],
  [tool({ codeExecution: true }), 'tools[0].codeExecution'],
  [
    tool({ vendor_search: [] }),
    'tools[0].vendor_search',
    "Invalid value at 'tools[0].vendor_search': must be an object, but got an array.",
  ],
  [
    tool({ vendor_search: {}, googleSearch: {} }),
    'tools[0].googleSearch',
    "Invalid JSON payload received. 'vendor_search' and 'googleSearch' at 'tools[0]' are two spellings of the same field. Send only one of them.",
  ],
  [calling({ mode: 'SOME' }), 'toolConfig.functionCallingConfig.mode'],
  [calling({ allowedFunctionNames: 'f' }), 'toolConfig.functionCallingConfig.allowedFunctionNames'],
  [
    safety({ category: 'HARM_CATEGORY_HARASSMENT' }),
    'safetySettings[0].threshold',
    "Missing required field 'safetySettings[0].threshold'.",
  ],
  [safety({ threshold: 'OFF' }), 'safetySettings[0].category'],
  [safety({ category: 'HARM_CATEGORY_X', threshold: 'OFF' }), 'safetySettings[0].category'],
  [safety({ category: 99, threshold: 'OFF' }), 'safetySettings[0].category'],
  [safety({ category: 7, threshold: 'BLOCK_ALL' }), 'safetySettings[0].threshold'],
  [
    { cachedContent: 'abc' },
    'cachedContent',
    "Invalid value at 'cachedContent': must have the format cachedContents/{cachedContent}, but got 'abc'.",
  ],
  [
    config({ stopSequences: list(6) }),
    'generationConfig.stopSequences',
    "Invalid value at 'generationConfig.stopSequences': must have at most 5 items, but got 6.",
  ],
  [config({ stopSequences: 'x' }), 'generationConfig.stopSequences'],
  [
    config({ temperature: 2.01 }),
    'generationConfig.temperature',
    "Invalid value at 'generationConfig.temperature': must be at most 2, but got 2.01.",
  ],
  [
    config({ temperature: -0.1 }),
    'generationConfig.temperature',
    "Invalid value at 'generationConfig.temperature': must be at least 0, but got -0.1.",
  ],
  [
    config({ temperature: 'warm' }),
    'generationConfig.temperature',
    "Invalid value at 'generationConfig.temperature': must be a number, but got a string.",
  ],
  [
    { generation_config: { top_p: 1.5 } },
    'generation_config.top_p',
    "Invalid value at 'generation_config.top_p': must be at most 1, but got 1.5.",
  ],
  [config({ topK: 0 }), 'generationConfig.topK'],
  [config({ candidateCount: 0 }), 'generationConfig.candidateCount'],
  [
    config({ maxOutputTokens: 0 }),
    'generationConfig.maxOutputTokens',
    "Invalid value at 'generationConfig.maxOutputTokens': must be at least 1, but got 0.",
  ],
  [config({ maxOutputTokens: 1.5 }), 'generationConfig.maxOutputTokens'],
  [config({ seed: 'x' }), 'generationConfig.seed'],
  [config({ presencePenalty: 'x' }), 'generationConfig.presencePenalty'],
  [
    config({ responseMimeType: 'text/html' }),
    'generationConfig.responseMimeType',
    "Invalid value at 'generationConfig.responseMimeType': must be one of 'text/plain', 'application/json', 'text/x.enum', but got 'text/html'.",
  ],
  [config({ responseModalities: ['SMELL'] }), 'generationConfig.responseModalities[0]'],
  [config({ responseSchema: { type: 'x' } }), 'generationConfig.responseSchema.type'],
  [config({ responseLogprobs: 'yes' }), 'generationConfig.responseLogprobs'],
  [config({ logprobs: -1 }), 'generationConfig.logprobs'],
  [config({ mediaResolution: 'MEDIA_RESOLUTION_ULTRA' }), 'generationConfig.mediaResolution'],
  [config({ thinkingConfig: { includeThoughts: 1 } }), 'generationConfig.thinkingConfig.includeThoughts'],
  [config({ thinkingConfig: { thinkingBudget: 'much' } }), 'generationConfig.thinkingConfig.thinkingBudget'],
  [config({ speechConfig: { voiceConfig: 'Kore' } }), 'generationConfig.speechConfig.voiceConfig'],
  [
    { generationConfig: {}, generation_config: {} },
    'generation_config',
    "Invalid JSON payload received. 'generationConfig' and 'generation_config' are two spellings of the same field. Send only one of them.",
  ],
];

/** Accepted in compatible mode only. */
const compatibleOnly: readonly Refused[] = [
  [{ labels: { team: 'a' } }, 'labels', 'Invalid JSON payload received. Unknown name "labels": Cannot find field.'],
  [
    { generation_config: { foo: 1 } },
    'generation_config.foo',
    `Invalid JSON payload received. Unknown name "foo" at 'generation_config': Cannot find field.`,
  ],
  [
    parts({ text: 'x', thoughtSignature: 'AbCd' }),
    'contents[0].parts[0].thoughtSignature',
    `Invalid JSON payload received. Unknown name "thoughtSignature" at 'contents[0].parts[0]': Cannot find field.`,
  ],
  [parts({ functionCall: { name: 'f', id: '1' } }), 'contents[0].parts[0].functionCall.id'],
  [declaration({ parametersJsonSchema: { $defs: {}, type: ['object', 'null'] } }), 'tools[0].functionDeclarations[0].parametersJsonSchema'],
  [
    parameters({ anyOf: [{ type: 'STRING' }, { type: 'NULL' }] }),
    'tools[0].functionDeclarations[0].parameters.type',
    "Missing required field 'tools[0].functionDeclarations[0].parameters.type'.",
  ],
  [parameters({ type: 'OBJECT', additionalProperties: false }), 'tools[0].functionDeclarations[0].parameters.additionalProperties'],
  [tool({ googleSearch: { excludeDomains: ['example.org'] } }), 'tools[0].googleSearch.excludeDomains'],
  [tool({ googleMaps: {} }), 'tools[0].googleMaps'],
  [calling({ mode: 'VALIDATED' }), 'toolConfig.functionCallingConfig.mode'],
  [safety({ category: 'HARM_CATEGORY_JAILBREAK', threshold: 'OFF' }), 'safetySettings[0].category'],
  [config({ thinkingConfig: { thinkingLevel: 'high' } }), 'generationConfig.thinkingConfig.thinkingLevel'],
  [config({ responseModalities: ['Text'] }), 'generationConfig.responseModalities[0]'],
  [config({ responseJsonSchema: { type: 'object' } }), 'generationConfig.responseJsonSchema'],
  [config({ speechConfig: { languageCode: 'sv-SE' } }), 'generationConfig.speechConfig.languageCode'],
  [{ systemInstruction: { role: 'system', parts: [{ text: 'x' }] } }, 'systemInstruction.role'],
];

test('fields of the contract are accepted in both modes', () => {
  for (const mode of modes) {
    for (const fields of accepted) {
      assert.equal(refusal({ ...base, ...fields }, mode)?.message, undefined, `${mode} ${JSON.stringify(fields)}`);
    }
  }
});

test('requests that violate the contract are refused in both modes, with the client’s name of the field', () => {
  for (const mode of modes) {
    for (const [fields, param, message] of refused) {
      const error = refusal({ ...base, ...fields }, mode);
      assert.equal(error?.param, param, `${mode} ${JSON.stringify(fields)}: ${error?.message}`);
      if (message !== undefined) assert.equal(error.message, message, mode);
    }
  }
});

test('extensions of the vendor are accepted in compatible mode and refused in documented mode', () => {
  for (const [fields, param, message] of compatibleOnly) {
    const label = JSON.stringify(fields);
    assert.equal(refusal({ ...base, ...fields }, 'compatible')?.message, undefined, label);
    const error = refusal({ ...base, ...fields }, 'documented');
    assert.equal(error?.param, param, `${label}: ${error?.message}`);
    if (message !== undefined) assert.equal(error.message, message);
  }
});

test('both spellings of a field together are refused, at every level and at unknown depth', () => {
  const nested = parts({ inlineData: { mimeType: 'a/b', mime_type: 'a/b', data: '' } });
  assert.equal(refusal(nested, 'compatible')?.param, 'contents[0].parts[0].inlineData.mime_type');
});

test('the error code distinguishes missing, unknown and wrong fields', () => {
  assert.equal(refusal({}, 'compatible')?.code, 'missing_required_field');
  assert.equal(refusal({ ...base, foo: 1 }, 'documented')?.code, 'unknown_field');
  assert.equal(refusal({ ...base, ...config({ topK: 0 }) }, 'compatible')?.code, 'invalid_value');
});

test('a count has turns or a whole request, and not both', () => {
  for (const mode of modes) {
    assert.equal(refusal({ contents }, mode, 'count-tokens'), undefined);
    assert.equal(
      refusal({ generateContentRequest: { model: 'models/m', contents, systemInstruction: 'x' } }, mode, 'count-tokens'),
      undefined,
    );
    assert.equal(refusal({ generate_content_request: { contents } }, mode, 'count-tokens'), undefined);
    assert.match(refusal({}, mode, 'count-tokens')?.message ?? '', /Send 'contents' or 'generateContentRequest'/);
    assert.match(refusal({ contents, generateContentRequest: { contents } }, mode, 'count-tokens')?.message ?? '', /mutually exclusive/);
    assert.equal(
      refusal({ generateContentRequest: { contents, generationConfig: { temperature: 3 } } }, mode, 'count-tokens')?.param,
      'generateContentRequest.generationConfig.temperature',
    );
  }
});

test('any body is accepted or refused with a field, and never changed', () => {
  const known = ['contents', 'tools', 'systemInstruction', 'system_instruction', 'generationConfig', 'safetySettings', 'cachedContent'];
  const names = ['parts', 'text', 'role', 'functionDeclarations', 'temperature', 'inline_data', 'name', 'category', '__proto__'];
  const value = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<JsonValue>(null, true, 0, -1, 1.5, '', 'x', '12', 'user'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...known), value), fc.constantFrom(...modes), (fields, mode) => {
      const body = { ...base, ...fields };
      const before = JSON.stringify(body);
      const error = refusal(body, mode);
      assert.ok(error === undefined || error.param !== undefined);
      assert.equal(JSON.stringify(body), before);
    }),
    { numRuns: 300 },
  );
});
