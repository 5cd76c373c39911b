import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decode } from './testing/test-kit.ts';

describe('state at the vendor is refused with an alternative', () => {
  const cases: readonly (readonly [param: string, fields: JsonObject])[] = [
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    [
      'input[1]',
      {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'item_reference', id: 'msg_1' },
        ],
      },
    ],
    ['input[0]', { input: [{ id: 'msg_1' }] }],
    ['tools[0].container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
    ['tools[0].container', { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file_1'] } }] }],
  ];
  for (const [param, fields] of cases) {
    test(`${param} of ${JSON.stringify(fields)} is refused`, () => {
      assert.throws(
        () => decode(fields),
        (error) =>
          error instanceof GatewayError &&
          error.code === 'untranslatable_field' &&
          error.param === param &&
          error.message.startsWith(`${param}: `),
      );
    });
  }

  test('fields that the gateway handles are not vendor fields', () => {
    const fields = { background: true, store: true, truncation: 'auto' };
    assert.deepEqual(decode({ ...fields, previous_response_id: 'resp_1', prompt: null }).vendorFields, []);
    assert.deepEqual(decode({ ...fields, conversation: 'conv_1' }).vendorFields, []);
  });
});

describe('settings', () => {
  const settings: readonly (readonly [fields: JsonObject, read: object])[] = [
    [{ max_output_tokens: 9 }, { outputTokensMax: 9 }],
    [{ temperature: 0, top_p: 0.5 }, { sampling: { temperature: 0, topP: 0.5 } }],
    [{ parallel_tool_calls: false }, { parallelToolCalls: false }],
    [
      { reasoning: { effort: 'high', summary: 'detailed' } },
      { reasoning: { mode: 'on', effort: 'high', visible: true, summary: 'detailed' } },
    ],
    [{ reasoning: { effort: 'none' } }, { reasoning: { mode: 'off', effort: 'none' } }],
    [{ reasoning: { generate_summary: 'auto' } }, { reasoning: { mode: 'auto', visible: true, summary: 'auto' } }],
    [{ include: ['reasoning.encrypted_content'] }, { reasoning: { mode: 'auto', wantsProofs: true } }],
    [{ reasoning: { effort: null, summary: null } }, {}],
    [{ text: { format: { type: 'text' }, verbosity: 'low' } }, { verbosity: 'low' }],
    [{ input: 'JSON!', text: { format: { type: 'json_object' } } }, { outputFormat: { kind: 'json', isObject: true } }],
    [
      { text: { format: { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: true, description: 'd' } } },
      { outputFormat: { kind: 'json-schema', name: 'n', schema: { a: 1 }, strict: true, description: 'd' } },
    ],
    [{ service_tier: 'flex' }, { serviceTier: 'flex' }],
    [{ user: 'u', safety_identifier: 's' }, { endUser: 'u' }],
    [{ safety_identifier: 's' }, { endUser: 's' }],
    [{ stream: true }, { stream: true }],
  ];
  const nothing = decode({});
  for (const [fields, expected] of settings) {
    test(JSON.stringify(fields), () => {
      const { turns: _turns, vendorFields, ...settings } = decode(fields);
      const { turns: _none, vendorFields: _fields, ...silent } = nothing;
      assert.deepEqual(settings, { ...silent, ...expected });
      assert.deepEqual(
        vendorFields.filter(({ weight }) => weight === 'matters'),
        [],
      );
    });
  }

  test('fields without a neutral name are kept with the weight of their loss', () => {
    const { vendorFields } = decode({
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      client_metadata: {},
      top_logprobs: 3,
      max_tool_calls: 2,
      include: ['message.output_text.logprobs'],
      reasoning: { effort: 'low', context: 'all_turns' },
      service_tier: 'scale',
      brand_new: 1,
      nothing: null,
    });
    const weights = Object.fromEntries(vendorFields.map(({ field, weight }) => [field, weight]));
    assert.deepEqual(weights, {
      metadata: 'harmless',
      prompt_cache_key: 'hint',
      client_metadata: 'harmless',
      top_logprobs: 'matters',
      max_tool_calls: 'matters',
      include: 'matters',
      'reasoning.context': 'matters',
      service_tier: 'matters',
      brand_new: 'matters',
    });
  });

  test("a value that is the vendor's default is not a vendor field", () => {
    assert.deepEqual(decode({ truncation: 'disabled', top_logprobs: 0, reasoning: { context: 'auto' } }).vendorFields, []);
  });
});
