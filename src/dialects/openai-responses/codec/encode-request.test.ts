import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyUnit } from '../../../platform/testing/any-unit.ts';
import { assistant, result, text, user } from '../../../inference/testing/fake-turns.ts';
import type { InferenceRequest, Part, Turn } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';
import { call, createFit, createRequest, encode, input, media, png, refusalOf, says } from './testing/test-kit.ts';

describe('the settings of a request', () => {
  test('nothing is stored, reasoning is returned encrypted, and no other field is sent', () => {
    assert.deepEqual(encode().body, {
      model: 'upstream-model',
      input: [says('user', input('Hi'))],
      include: ['reasoning.encrypted_content'],
      store: false,
    });
  });

  test('a model without reasoning is not asked for it, because it would refuse', () => {
    assert.equal(encode({}, { reasoning: 'none' }).body.include, undefined);
  });

  test('instructions are joined by a blank line', () => {
    const instructions = [
      { kind: 'text', text: 'A' },
      { kind: 'text', text: '' },
      { kind: 'text', text: 'B' },
    ] as const;
    assert.equal(encode({ instructions }).body.instructions, 'A\n\nB');
  });

  const settings: readonly (readonly [
    members: Partial<InferenceRequest>,
    body: JsonObject,
    notes: readonly string[],
    traits?: Partial<ModelTraits>,
  ])[] = [
    [{ stream: true }, { stream: true }, []],
    [{ outputTokensMax: 1 }, { max_output_tokens: 16 }, ['adapted max_output_tokens']],
    [{ outputTokensMax: 100 }, { max_output_tokens: 100 }, []],
    [{ outputTokensMax: 100 }, { max_output_tokens: 50 }, ['adapted max_output_tokens'], { outputTokensMax: 50 }],
    [{ sampling: { temperature: 0.2, topP: 0.9 } }, { temperature: 0.2, top_p: 0.9 }, []],
    [{ sampling: { temperature: 0.2, topP: 1 } }, {}, ['dropped temperature'], { fixedSampling: true }],
    [
      { sampling: { topK: 4, seed: 1, presencePenalty: 0, frequencyPenalty: 0.5 } },
      {},
      ['dropped top_k', 'dropped seed', 'dropped frequencyPenalty'],
    ],
    [{ endUser: 'u', serviceTier: 'flex', verbosity: 'low' }, { user: 'u', service_tier: 'flex', text: { verbosity: 'low' } }, []],
    [{ reasoning: { mode: 'on', effort: 'high' } }, { reasoning: { effort: 'high' } }, []],
    [{ reasoning: { mode: 'on', budgetTokens: 2000, visible: true } }, { reasoning: { effort: 'low', summary: 'auto' } }, []],
    [{ reasoning: { mode: 'auto', visible: true, summary: 'detailed' } }, { reasoning: { summary: 'detailed' } }, []],
    [
      { reasoning: { mode: 'on', effort: 'max' } },
      { reasoning: { effort: 'high' } },
      ['adapted reasoning'],
      { efforts: ['low', 'medium', 'high'] },
    ],
    [{ reasoning: { mode: 'on', effort: 'high', visible: true } }, {}, ['dropped reasoning'], { reasoning: 'none' }],
    [
      { outputFormat: { kind: 'json-schema', name: 'my answer!', schema: { type: 'object' } } },
      { text: { format: { type: 'json_schema', name: 'my_answer_', schema: { type: 'object' } } } },
      [],
    ],
    [
      { outputFormat: { kind: 'json-schema', schema: {}, strict: true } },
      { text: { format: { type: 'json_schema', name: 'answer', schema: {}, strict: true } } },
      [],
    ],
    [
      { outputFormat: { kind: 'json' } },
      { text: { format: { type: 'json_object' } }, instructions: 'Answer in JSON.' },
      ['adapted text.format'],
    ],
    [
      { outputFormat: { kind: 'json' }, instructions: [{ kind: 'text', text: 'Use json.' }] },
      { text: { format: { type: 'json_object' } }, instructions: 'Use json.' },
      [],
    ],
    [
      {
        vendorFields: [
          { field: 'logit_bias', value: {}, weight: 'matters' },
          { field: 'cache', value: 1, weight: 'harmless' },
        ],
      },
      {},
      ['dropped logit_bias'],
    ],
  ];
  for (const [members, body, notes, traits] of settings) {
    test(JSON.stringify([members, traits]), () => {
      const encoded = encode(members, traits);
      const { model: _model, input: _input, include: _include, store: _store, ...rest } = encoded.body;
      assert.deepEqual(rest, body);
      assert.deepEqual(encoded.notes, notes);
    });
  }

  test('reasoning that is switched off is not requested in encrypted form', () => {
    const { body } = encode({ reasoning: { mode: 'off' } });
    assert.deepEqual([body.reasoning, body.include], [{ effort: 'none' }, undefined]);
    assert.equal(encode({ reasoning: { mode: 'off' } }, { efforts: ['low', 'high'] }).body.reasoning, undefined);
  });

  test('stop sequences are handled by the gateway', () => {
    const { cutAt, notes } = encode({ stopSequences: ['END', ''] });
    assert.deepEqual([cutAt, notes], [['END'], ['emulated stop']]);
    assert.equal('cutAt' in encode({ stopSequences: [] }), false);
  });

  test('strict translation refuses every loss', () => {
    const error = refusalOf(() => encodeRequest(createRequest({ sampling: { topK: 3 } }), createFit({}, true)));
    assert.equal(error.param, 'top_k');
  });
});

describe('encoding and decoding', () => {
  const shortText = fc.string({ minLength: 1, maxLength: 12, unit: anyUnit });
  const textPart = shortText.map((value): Part => text(value));
  const imagePart = fc.constantFrom<Part>(media('image', png), media('image', { kind: 'url', url: 'https://example.org/a.png' }));
  const userTurn = fc.array(fc.oneof(textPart, imagePart), { minLength: 1, maxLength: 3 }).map((parts) => user(...parts));
  const exchange = fc
    .record({ question: userTurn, thought: fc.option(shortText), answer: textPart, calls: fc.integer({ min: 0, max: 3 }), id: fc.uuid() })
    .map(({ question, thought, answer, calls, id }): readonly Turn[] => {
      const ids = Array.from({ length: calls }, (_, at) => `call_${id}_${at}`);
      const reasoning: readonly Part[] =
        thought === null ? [] : [{ kind: 'reasoning', text: [thought], proof: { origin: 'openai', blob: 'gAAA' } }];
      const reply = assistant(...reasoning, answer, ...ids.map((callId) => call(callId)));
      return calls === 0 ? [question, reply] : [question, reply, user(...ids.map((callId) => result(callId)))];
    });
  const conversation = fc.tuple(fc.array(exchange, { maxLength: 4 }), userTurn).map(([turns, last]) => [...turns.flat(), last]);

  // Results and user content after them are one turn in the neutral form and two items here.
  const contentOf = (turns: readonly Turn[]): unknown =>
    JSON.parse(
      JSON.stringify(
        turns.flatMap(({ role, parts }) => parts.map((part) => ({ role, part }))),
        (key, value: unknown) => (key === 'path' || key === 'name' ? undefined : value),
      ),
    );

  test('a conversation is read back unchanged', () => {
    fc.assert(
      fc.property(conversation, (turns) => {
        const { body } = encode({ turns });
        assert.deepEqual(contentOf(decodeRequest({ operation: 'generate', body, headers: {} }).turns), contentOf(turns));
      }),
      { numRuns: 200 },
    );
  });

  test('settings and tools are read back unchanged', () => {
    const request = createRequest({
      stream: true,
      instructions: [{ kind: 'text', text: 'Be brief.' }],
      tools: [
        { kind: 'function', name: 'f', description: 'F.', parameters: { type: 'object', properties: {} }, strict: false },
        { kind: 'web-search', allowedDomains: ['a.org'], contextSize: 'low' },
        { kind: 'code-execution' },
      ],
      toolChoice: { kind: 'allowed', names: ['f'], required: true },
      parallelToolCalls: false,
      outputTokensMax: 100,
      outputFormat: { kind: 'json-schema', name: 'n', schema: { type: 'object' }, strict: false },
      sampling: { temperature: 1, topP: 0.5 },
      reasoning: { mode: 'on', effort: 'low', visible: true, summary: 'concise', wantsProofs: true },
      endUser: 'u',
      serviceTier: 'priority',
      verbosity: 'high',
    });
    const { body } = encodeRequest(request, createFit());
    const back = decodeRequest({ operation: 'generate', body, headers: {} });
    const plain = JSON.parse(
      JSON.stringify({ ...back, model: 'asked-model' }, (key, value: unknown) => (key === 'path' ? undefined : value)),
    ) as object;
    assert.deepEqual(plain, { ...request, dialect: 'openai-responses', vendorFields: [] });
  });
});
