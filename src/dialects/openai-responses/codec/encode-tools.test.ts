import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InferenceRequest, Tool } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { encode, refusalOf } from './testing/test-kit.ts';

describe('tools', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };
  const f: Tool = { kind: 'function', name: 'f', parameters };
  const wire = (name: string): JsonObject => ({ type: 'function', name, parameters, strict: false });

  test('strict is sent as false if the client did not set it, because the vendor would make optional arguments required', () => {
    assert.deepEqual(encode({ tools: [f] }).body.tools, [wire('f')]);
    assert.deepEqual(encode({ tools: [{ ...f, strict: true }] }).body.tools, [{ ...wire('f'), strict: true }]);
  });

  test('a schema without a type receives one, because the vendor refuses it otherwise', () => {
    const sent = (parameters: JsonObject): unknown => (encode({ tools: [{ ...f, parameters }] }).body.tools as JsonObject[])[0]?.parameters;
    assert.deepEqual(sent({ type: 'object' }), { type: 'object', properties: {} });
    assert.deepEqual(sent({ properties: { a: {} }, required: ['a'] }), { type: 'object', properties: { a: {} }, required: ['a'] });
  });

  test('a function without parameters receives empty ones', () => {
    assert.deepEqual(encode({ tools: [{ kind: 'function', name: 'f' }] }).body.tools, [
      { ...wire('f'), parameters: { type: 'object', properties: {} } },
    ]);
  });

  test('names that the vendor refuses are replaced in tools, choice and history, and can be mapped back', () => {
    const name = 'my.tool/ü';
    const encoded = encode({
      tools: [{ ...f, name }],
      toolChoice: { kind: 'function', name },
      turns: [
        { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
        { role: 'assistant', parts: [{ kind: 'tool-call', id: 'call_1', name, arguments: '{}' }] },
        { role: 'user', parts: [{ kind: 'tool-result', callId: 'call_1', content: [], isError: false }] },
      ],
    });
    const [sent = ''] = encoded.toolNames?.keys() ?? [];
    assert.match(sent, /^[\w-]{1,64}$/);
    assert.equal(encoded.toolNames?.get(sent), name);
    assert.deepEqual(encoded.body.tools, [wire(sent)]);
    assert.deepEqual(encoded.body.tool_choice, { type: 'function', name: sent });
    assert.equal((encoded.body.input as JsonObject[])[1]?.name, sent);
  });

  const choices: readonly (readonly [InferenceRequest['toolChoice'], unknown])[] = [
    [{ kind: 'auto' }, 'auto'],
    [{ kind: 'none' }, 'none'],
    [{ kind: 'required' }, 'required'],
    [
      { kind: 'function', name: 'f' },
      { type: 'function', name: 'f' },
    ],
    [
      { kind: 'allowed', names: ['f'], required: true },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    ],
    [
      { kind: 'allowed', names: ['f'], required: false },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    ],
    [{ kind: 'allowed', names: [], required: false }, 'none'],
  ];
  for (const [choice, expected] of choices) {
    test(`the choice ${JSON.stringify(choice)} is written`, () => {
      assert.deepEqual(encode({ tools: [f], ...(choice && { toolChoice: choice }) }).body.tool_choice, expected);
    });
  }

  test('without tools neither a choice nor a switch for parallel calls is sent, because the vendor refuses them', () => {
    const { body } = encode({ toolChoice: { kind: 'auto' }, parallelToolCalls: false });
    assert.deepEqual([body.tool_choice, body.parallel_tool_calls], [undefined, undefined]);
    assert.equal(encode({ tools: [f], parallelToolCalls: false }).body.parallel_tool_calls, false);
  });

  test('a web search is written with its options', () => {
    const search: Tool = {
      kind: 'web-search',
      maxUses: 2,
      allowedDomains: ['a.org'],
      blockedDomains: ['b.org'],
      userLocation: { country: 'CH' },
      contextSize: 'high',
      path: 'tools.0',
    };
    const { body, notes } = encode({ tools: [search, f] });
    assert.deepEqual(body.tools, [
      {
        type: 'web_search',
        filters: { allowed_domains: ['a.org'], blocked_domains: ['b.org'] },
        user_location: { type: 'approximate', country: 'CH' },
        search_context_size: 'high',
      },
      wire('f'),
    ]);
    assert.deepEqual(
      [body.max_tool_calls, body.include, notes],
      [2, ['reasoning.encrypted_content', 'web_search_call.action.sources'], []],
    );
    const beside = encode({ tools: [search, { kind: 'code-execution' }] });
    assert.deepEqual([beside.body.max_tool_calls, beside.notes], [undefined, ['dropped tools.0']]);
    const without = encode({ tools: [search] }, { webSearch: false });
    assert.deepEqual([without.body.tools, without.notes], [undefined, ['dropped tools.0']]);
  });

  test('code execution runs in a fresh container', () => {
    const { body } = encode({ tools: [{ kind: 'code-execution' }] });
    assert.deepEqual(body.tools, [{ type: 'code_interpreter', container: { type: 'auto' } }]);
    assert.deepEqual(encode({ tools: [{ kind: 'code-execution' }] }, { codeExecution: false }).notes, ['dropped tools']);
  });

  test('a tool of another vendor is refused with its path', () => {
    const error = refusalOf(() => encode({ tools: [{ kind: 'vendor', name: 'bash_20250124', wire: {}, path: 'tools.3' }] }));
    assert.equal(error.param, 'tools.3');
  });

  test('a function replaces structured output if the model has none', () => {
    const outputFormat = { kind: 'json-schema', schema: { type: 'object' } } as const;
    const withoutTools = encode({ outputFormat }, { structuredOutput: false });
    assert.deepEqual(
      [withoutTools.answerTool, withoutTools.body.tool_choice, withoutTools.body.text],
      ['answer', { type: 'function', name: 'answer' }, undefined],
    );
    assert.deepEqual(withoutTools.notes, ['emulated text.format']);
    const beside = encode({ outputFormat, tools: [{ ...f, name: 'answer' }] }, { structuredOutput: false });
    assert.deepEqual([beside.answerTool, beside.body.tool_choice], ['final_answer', 'required']);
  });
});
