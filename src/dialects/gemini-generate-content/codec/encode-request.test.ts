import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistant, text, user } from '../../../inference/testing/fake-turns.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ReasoningRequest } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createFakeRequest } from '../../testing/fake-translation.ts';
import { validateRequest } from '../validate-request.ts';
import { codec } from './codec.ts';
import { encodeRequest } from './encode-request.ts';
import { createFit, decode, encode } from './testing/test-kit.ts';

test('thinking has a level or a budget, never both, and thoughts if they are shown', () => {
  const thinkingOf = (reasoning: ReasoningRequest, differences: Partial<ModelTraits>): unknown =>
    (encode({ reasoning }, differences).body.generationConfig as JsonObject | undefined)?.thinkingConfig;
  const level = { reasoning: 'effort' } as const;
  const budget = { reasoning: 'budget' } as const;
  assert.deepEqual(thinkingOf({ mode: 'on', effort: 'low', visible: true }, level), { thinkingLevel: 'LOW', includeThoughts: true });
  assert.deepEqual(thinkingOf({ mode: 'on', effort: 'max' }, level), { thinkingLevel: 'HIGH' });
  assert.deepEqual(thinkingOf({ mode: 'on', budgetTokens: 9000 }, level), { thinkingLevel: 'HIGH' });
  assert.deepEqual(thinkingOf({ mode: 'off', visible: true }, level), { thinkingLevel: 'MINIMAL' });
  assert.deepEqual(thinkingOf({ mode: 'off' }, { ...level, alwaysReasons: true, efforts: ['low', 'high'] }), { thinkingLevel: 'LOW' });
  assert.deepEqual(thinkingOf({ mode: 'auto', visible: true }, level), { includeThoughts: true });
  assert.deepEqual(thinkingOf({ mode: 'on', effort: 'low' }, budget), { thinkingBudget: 2048 });
  assert.deepEqual(thinkingOf({ mode: 'on', budgetTokens: 31_999 }, budget), { thinkingBudget: 24_576 });
  assert.deepEqual(thinkingOf({ mode: 'off' }, budget), { thinkingBudget: 0 });
  assert.deepEqual(thinkingOf({ mode: 'auto' }, budget), { thinkingBudget: -1 });
  assert.equal(thinkingOf({ mode: 'on', effort: 'low', visible: true }, { reasoning: 'none' }), undefined);
});

test('sampling stays within the vendor’s limits', () => {
  const { body, notes } = encode({
    sampling: { temperature: 1.5, topP: 0.9, topK: 0, seed: 2 ** 40 + 5, presencePenalty: 1, frequencyPenalty: -1 },
    outputTokensMax: 5,
  });
  assert.deepEqual(body.generationConfig, {
    temperature: 1.5,
    topP: 0.9,
    presencePenalty: 1,
    frequencyPenalty: -1,
    seed: 5,
    maxOutputTokens: 5,
  });
  assert.deepEqual(notes, ['adapted generationConfig.seed']);
  const fixed = encode({ sampling: { temperature: 1, topK: 4 } }, { fixedSampling: true });
  assert.deepEqual(
    [fixed.body.generationConfig, fixed.notes],
    [undefined, ['dropped generationConfig.temperature', 'dropped generationConfig.topK']],
  );
});

test('five stop sequences are sent, and the gateway cuts at the others', () => {
  const { body, cutAt, notes } = encode({ stopSequences: ['1', '', '2', '3', '4', '5', '6', '7'] });
  assert.deepEqual(
    [body.generationConfig, cutAt, notes],
    [{ stopSequences: ['1', '2', '3', '4', '5'] }, ['6', '7'], ['emulated generationConfig.stopSequences']],
  );
});

test('tiers have their names here, and users and verbosity are left out with a note', () => {
  assert.equal(encode({ serviceTier: 'default' }).body.serviceTier, 'standard');
  assert.equal(encode({ serviceTier: 'priority' }).body.serviceTier, 'priority');
  const { body, notes } = encode({ serviceTier: 'auto', endUser: 'u', verbosity: 'low' });
  assert.deepEqual([Object.keys(body), notes], [['contents'], ['dropped endUser', 'dropped verbosity']]);
});

test('fields of other dialects are never merged, and noted if they matter', () => {
  const { body, notes } = encode({
    vendorFields: [
      { field: 'logit_bias', value: {}, weight: 'matters' },
      { field: 'metadata', value: {}, weight: 'harmless' },
    ],
  });
  assert.deepEqual([Object.keys(body), notes], [['contents'], ['dropped logit_bias']]);
});

test('strict translation refuses drops', () => {
  const request = createFakeRequest({ vendorFields: [{ field: 'logit_bias', value: {}, weight: 'matters' }] });
  assert.throws(
    () => encodeRequest(request, createFit({}, true)),
    (error) => error instanceof GatewayError && error.code === 'untranslatable_field' && error.param === 'logit_bias',
  );
});

test('a conversation that ends with the model continues only if the model supports that', () => {
  const turns = [user(text('q')), assistant(text('{"a":'))];
  assert.deepEqual(encode({ turns }).notes, []);
  assert.deepEqual(encode({ turns }, { prefill: false }).notes, ['adapted contents']);
});

test('a decoded request is encoded unchanged', () => {
  const body: JsonObject = {
    contents: [
      { role: 'user', parts: [{ text: 'q' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      {
        role: 'model',
        parts: [
          { text: 'Thought.', thought: true, thoughtSignature: 'AAAA' },
          { text: 'x', thoughtSignature: 'BBBB' },
          { functionCall: { id: '1', name: 'f', args: { a: [1] } }, thoughtSignature: 'CCCC' },
          { functionCall: { id: '2', name: 'f', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: '1', name: 'f', response: { b: 1 } } },
          {
            functionResponse: {
              id: '2',
              name: 'f',
              response: { result: 'ok' },
              parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
            },
          },
          { text: 'go on' },
        ],
      },
    ],
    systemInstruction: { parts: [{ text: 'S' }] },
    tools: [
      { functionDeclarations: [{ name: 'f', description: 'F', parametersJsonSchema: { type: 'object', properties: {} } }] },
      { googleSearch: {} },
      { codeExecution: {} },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: {
      temperature: 0.5,
      topP: 0.5,
      presencePenalty: 0.5,
      frequencyPenalty: 0.5,
      topK: 4,
      seed: 7,
      maxOutputTokens: 99,
      stopSequences: ['a', 'b'],
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
      thinkingConfig: { thinkingLevel: 'MEDIUM', includeThoughts: true },
      mediaResolution: 'MEDIA_RESOLUTION_HIGH',
    },
    serviceTier: 'flex',
  };
  const fit = createFit();
  assert.deepEqual(encodeRequest(decode(body), fit).body, body);
  assert.deepEqual(fit.notes.list(), []);
});

test('a count sends the whole request under its model, and reads the count', () => {
  const request = createFakeRequest({ instructions: [{ kind: 'text', text: 'S' }] });
  const body = codec.encodeCountRequest?.(request, createFit()) ?? {};
  assert.deepEqual(body, {
    generateContentRequest: {
      model: 'models/gemini-x',
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      systemInstruction: { parts: [{ text: 'S' }] },
    },
  });
  validateRequest({ operation: 'count-tokens', body, headers: {} }, 'compatible');
  const counts = [{ totalTokens: 11 }, { totalTokens: '12' }, {}, { error: {} }, 'x', { totalTokens: -1 }].map((reply) =>
    codec.decodeCount?.(reply),
  );
  assert.deepEqual(counts, [11, 12, undefined, undefined, undefined, undefined]);
  assert.deepEqual(codec.encodeCount?.(13), { totalTokens: 13 });
});
