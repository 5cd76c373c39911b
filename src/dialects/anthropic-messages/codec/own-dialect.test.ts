import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { encodeRequest } from './encode-request.ts';
import { createFit, decode, effortTraits } from './testing/test-kit.ts';

const mark = { type: 'ephemeral' };

describe('from this dialect into this dialect', () => {
  const fields: JsonObject = {
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Long rules.', cache_control: { ...mark, ttl: '1h' } },
    ],
    tools: [
      { name: 'f', input_schema: { type: 'object' }, cache_control: mark, input_examples: [{}] },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 100 },
      { type: 'memory_20250818', name: 'memory' },
      { type: 'computer_20251124', name: 'computer', display_width_px: 10, display_height_px: 20, enable_zoom: true },
      { type: 'web_search_20260318', name: 'web_search', max_uses: 2 },
      { type: 'web_fetch_20260318', name: 'web_fetch', max_content_tokens: 5 },
      { type: 'code_execution_20260521', name: 'code_execution' },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', source: { type: 'file', file_id: 'file_1' }, citations: { enabled: true }, cache_control: mark },
          { type: 'text', text: 'Look.', cache_control: mark },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok', cache_control: mark }] },
      {
        role: 'assistant',
        content: [
          { type: 'brand_new', data: 1 },
          { type: 'text', text: 'Well.' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'container_upload', file_id: 'file_2' },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ],
    context_management: { edits: [{ type: 'compact_20260112' }] },
    output_config: { effort: 'high', task_budget: { total: 9 } },
    brand_new: 1,
    max_tokens: 100,
  };
  const fit = createFit({ ...effortTraits, urlContext: true, screenTool: 'computer_20250124' });
  const { body, headers } = encodeRequest(decode(fields), fit);

  test('nothing is noted as lost', () => assert.deepEqual(fit.notes.list(), []));

  for (const name of ['system', 'tools', 'messages', 'context_management', 'brand_new', 'max_tokens'])
    test(`${name} is sent unchanged`, () => assert.deepEqual(body[name], fields[name]));

  test('members of an object with a neutral name are merged with it', () => {
    assert.deepEqual(body.output_config, { effort: 'high', task_budget: { total: 9 } });
  });

  test('the beta of a tool is requested', () => assert.deepEqual(headers, { 'anthropic-beta': 'computer-use-2025-11-24' }));
});

describe('for the vendor of this dialect, from another', () => {
  const request = decode({ tools: [{ type: 'computer_20241022', name: 'computer', display_width_px: 10, display_height_px: 20 }] });
  const { dialect: _dialect, ...foreign } = request;

  test('a screen uses the model’s own tool and its beta', () => {
    const { body, headers } = encodeRequest(foreign, createFit({ screenTool: 'computer_20250124' }));
    assert.deepEqual(body.tools, [{ type: 'computer_20250124', name: 'computer', display_width_px: 10, display_height_px: 20 }]);
    assert.deepEqual(headers, { 'anthropic-beta': 'computer-use-2025-01-24' });
  });

  test('a screen uses a function if the model has no tool for it', () => {
    const { body, headers } = encodeRequest(foreign, createFit());
    assert.deepEqual(
      objectsOf(body.tools).map(({ name, type }) => [name, type]),
      [['computer', undefined]],
    );
    assert.equal(headers, undefined);
  });

  test('the choice of a built-in tool is by name, or noted if it has none', () => {
    const request = { ...foreign, tools: [{ kind: 'web-search' } as const], toolChoice: { kind: 'built-in', tool: 'web-search' } as const };
    assert.deepEqual(encodeRequest(request, createFit()).body.tool_choice, { type: 'tool', name: 'web_search' });
    const fit = createFit({ webSearch: false });
    encodeRequest({ ...request, tools: [...request.tools, { kind: 'function', name: 'f' }] }, fit);
    assert.deepEqual(
      fit.notes.list().map(({ kind, field }) => `${kind} ${field}`),
      ['dropped tools', 'dropped tool_choice'],
    );
  });
});
