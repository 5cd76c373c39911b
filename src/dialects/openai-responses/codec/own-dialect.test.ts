import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { encodeRequest } from './encode-request.ts';
import { createFit, decode } from './testing/test-kit.ts';

/** The body and the notes for an upstream of this dialect and a client of this dialect. */
function pass(fields: JsonObject, traits = {}): { readonly body: JsonObject; readonly notes: readonly string[] } {
  const fit = createFit({ fileSearch: true, ...traits });
  const { body } = encodeRequest(decode(fields), fit);
  return { body, notes: fit.notes.list().map(({ kind, field }) => `${kind} ${field}`) };
}

describe('a client and an upstream of this dialect', () => {
  const fields: JsonObject = {
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    top_logprobs: 3,
    max_tool_calls: 2,
    include: ['message.output_text.logprobs'],
    reasoning: { effort: 'low', context: 'all_turns' },
    service_tier: 'scale',
    brand_new: 1,
    tool_choice: { type: 'mcp', server_label: 's' },
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } },
      { type: 'function', name: 'g', parameters: { type: 'object', properties: {} }, strict: false },
      { type: 'custom', name: 'apply', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
      { type: 'mcp', server_label: 's', server_url: 'https://example.org' },
      { type: 'web_search', external_web_access: false },
      { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } },
      { type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 3 },
      { type: 'local_shell' },
    ],
  };
  const { body, notes } = pass(fields);

  test('lose no field of a request', () => assert.deepEqual(notes, []));

  for (const name of [
    'metadata',
    'prompt_cache_key',
    'top_logprobs',
    'max_tool_calls',
    'service_tier',
    'brand_new',
    'tool_choice',
    'tools',
  ])
    test(`keep ${name} unchanged`, () => assert.deepEqual(body[name], fields[name]));

  test("keep the client's include values beside those of the gateway", () => {
    assert.deepEqual(body.reasoning, { effort: 'low', context: 'all_turns' });
    const include = Array.isArray(body.include) ? body.include : [];
    for (const value of ['message.output_text.logprobs', 'file_search_call.results', 'reasoning.encrypted_content'])
      assert.ok(include.includes(value));
  });

  test('keep items that only this dialect has, without ids that the vendor never stored', () => {
    const custom = { type: 'custom_tool_call', call_id: 'c1', name: 'apply', input: 'x' };
    const items: readonly JsonObject[] = [
      { type: 'message', role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] },
      { ...custom, id: 'ctc_1' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
      { type: 'local_shell_call', id: 'l1', call_id: 'c2', action: { type: 'exec', command: ['ls'] }, status: 'completed' },
      { type: 'local_shell_call_output', id: 'lo1', output: 'a' },
      { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'n', arguments: '{}', output: 'x' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
    ];
    const written = objectsOf(pass({ input: items }).body.input);
    assert.deepEqual(
      written.map(({ type }) => type),
      items.map(({ type }) => type),
    );
    assert.deepEqual(written[1], custom);
    assert.deepEqual([written[0], written[3], written[4], written[5], written[6]], [items[0], items[3], items[4], items[5], items[6]]);
  });

  test('send no tool runs of the gateway to a vendor that did not run them', () => {
    const item = { type: 'web_search_call', id: 'ws_gw_1', status: 'completed', action: { type: 'search', query: 'q' } };
    const { body: sent, notes: noted } = pass({ input: [item, { role: 'user', content: 'Hi' }] });
    assert.equal(objectsOf(sent.input).length, 1);
    assert.deepEqual(noted, ['dropped input[0]']);
  });
});

describe('screens', () => {
  const tool = { type: 'computer_use_preview', display_width: 1024, display_height: 768, environment: 'browser' };
  const checks = [{ id: 'sc_1', code: 'malicious_instructions', message: 'Look.' }];
  const call = {
    type: 'computer_call',
    id: 'cu_1',
    call_id: 'c1',
    action: {
      type: 'drag',
      path: [
        { x: 1, y: 2 },
        { x: 3, y: 4 },
        { x: 5, y: 6 },
      ],
    },
    pending_safety_checks: checks,
    status: 'completed',
  };
  const output = {
    type: 'computer_call_output',
    call_id: 'c1',
    output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBO' },
    acknowledged_safety_checks: checks,
  };
  const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Buy it.' }] }, call, output];

  test('items and safety checks are unchanged for a model that has the tool', () => {
    const { body, notes } = pass(
      { tools: [tool], input, tool_choice: { type: 'computer_use_preview' } },
      { screenTool: 'computer_use_preview' },
    );
    assert.deepEqual([body.tools, body.input, body.tool_choice], [[tool], input, { type: 'computer_use_preview' }]);
    assert.deepEqual(notes, []);
  });

  test('a model without the tool receives a function, and its history uses that function', () => {
    const { body } = pass({ tools: [tool], input });
    assert.deepEqual(
      objectsOf(body.tools).map(({ type, name }) => [type, name]),
      [['function', 'computer']],
    );
    const [, callItem, resultItem] = objectsOf(body.input);
    assert.deepEqual(JSON.parse(String(callItem?.arguments as string)), {
      action: 'left_click_drag',
      start_coordinate: [1, 2],
      coordinate: [5, 6],
    });
    assert.deepEqual([callItem?.type, resultItem?.type], ['function_call', 'function_call_output']);
  });
});
