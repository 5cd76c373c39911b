import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decode, encode } from './testing/test-kit.ts';

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

/** Decodes a client's request and encodes it for an upstream of the same dialect that supports everything. */
const again = (body: JsonObject): { readonly body: JsonObject; readonly notes: readonly string[] } =>
  encode(decode({ contents, ...body }), { urlContext: true });

const declaration = {
  name: 'f',
  parametersJsonSchema: { type: 'object', properties: { a: { type: 'string' } } },
  behavior: 'NON_BLOCKING',
  response: { type: 'STRING' },
};

const png = { mimeType: 'image/png', data: 'AAAA' };

const preserved: Readonly<Record<string, JsonObject>> = {
  'settings of safety, labels and logs': {
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }],
    labels: { team: 'a' },
    store: false,
  },
  'settings of generation without a neutral name': {
    generationConfig: {
      temperature: 0.5,
      mediaResolution: 'MEDIA_RESOLUTION_MEDIUM',
      enableEnhancedCivicAnswers: true,
      speechConfig: { languageCode: 'de-DE' },
    },
  },
  'the way functions are called and answer': {
    tools: [{ functionDeclarations: [declaration] }],
    toolConfig: { functionCallingConfig: { mode: 'VALIDATED' }, includeServerSideToolInvocations: true },
  },
  'tools with all their options': {
    tools: [
      { googleSearch: { excludeDomains: ['a.example'], timeRangeFilter: { startTime: 's', endTime: 'e' } } },
      { codeExecution: {} },
      { urlContext: {} },
      { googleMaps: { enableWidget: true } },
      { fileSearch: { fileSearchStoreNames: ['fileSearchStores/1'] } },
    ],
    toolConfig: { retrievalConfig: { languageCode: 'de', latLng: { latitude: 1, longitude: 2 } } },
  },
  'the older search': { tools: [{ googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC', dynamicThreshold: 0.5 } } }] },
  'records of tools, code, and films by their parts': {
    contents: [
      { role: 'user', parts: [{ text: 'Look' }, { inlineData: { ...png, mimeType: 'video/mp4' }, videoMetadata: { fps: 2 } }] },
      {
        role: 'model',
        parts: [
          { toolCall: { id: '1', toolType: 'GOOGLE_SEARCH', args: {} } },
          { toolResponse: { id: '1', toolType: 'GOOGLE_SEARCH', response: {} } },
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_DEADLINE_EXCEEDED', output: '1' } },
          { text: 'Done.' },
        ],
      },
      { role: 'user', parts: [{ text: 'And?' }] },
    ],
    tools: [{ codeExecution: {} }],
  },
  'results that go on': {
    contents: [
      ...contents,
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'f', args: {} }, thoughtSignature: 'c2ln' }] },
      { role: 'user', parts: [{ functionResponse: { id: '1', name: 'f', response: { output: '{"a":1}' }, willContinue: true } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
  },
};

for (const [what, body] of Object.entries(preserved)) {
  test(`a decoded and encoded request of this dialect keeps ${what}`, () => {
    const { body: written, notes } = again(body);
    assert.deepEqual(written, { contents, ...body });
    assert.deepEqual(notes, []);
  });
}

test('fields that a rewritten reply cannot carry are not sent', () => {
  const { body, notes } = again({ generationConfig: { logprobs: 3 } });
  assert.equal(body.generationConfig, undefined);
  assert.deepEqual(notes, ['dropped generationConfig.logprobs']);
  const generationConfig = { responseLogprobs: true, logprobs: 3 };
  const whole = again({ generationConfig });
  assert.deepEqual([whole.body.generationConfig, whole.notes], [generationConfig, []]);
});

test('the same fields are lost for another dialect’s upstream, and for a request of no dialect', () => {
  const { dialect: _dialect, ...request } = decode({
    contents,
    tools: [{ googleSearch: { timeRangeFilter: { startTime: '2026-01-01T00:00:00Z' } } }],
    toolConfig: { retrievalConfig: { languageCode: 'de' } },
    labels: { team: 'a' },
  });
  const { body, notes } = encode(request);
  assert.deepEqual(body, { contents, tools: [{ googleSearch: {} }] });
  assert.deepEqual(notes, ['dropped tools[0].googleSearch.timeRangeFilter', 'dropped toolConfig.retrievalConfig', 'dropped labels']);
});

test('a choice that the gateway requires overrides a mode of the client', () => {
  const { body } = encode(
    decode({
      contents,
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
      generationConfig: { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } },
    }),
    { structuredOutput: false },
  );
  assert.deepEqual(body.toolConfig, { functionCallingConfig: { mode: 'ANY' } });
});
