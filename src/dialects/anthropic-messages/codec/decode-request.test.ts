import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InferenceRequest, Part } from '../../../inference/inference-request.ts';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { codec } from './codec.ts';
import { writeCallProof, writeSignature } from './proof-fields.ts';
import { decode, headers } from './testing/test-kit.ts';

const partsOf = (role: string, content: JsonValue): readonly unknown[] => {
  const [turn] = decode({ messages: [{ role, content }] }).turns;
  return (turn?.parts ?? []).map(({ path: _path, ...part }: Part & { readonly path?: string }) => part);
};

test('settings get their neutral names', () => {
  const request = decode({
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    max_tokens: 50,
    stream: true,
    stop_sequences: ['END'],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 3,
    metadata: { user_id: 'u1' },
    service_tier: 'standard_only',
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true, cache_control: { type: 'ephemeral' } }],
    output_config: { format: { type: 'json_schema', schema: { type: 'object' } }, effort: 'high' },
    thinking: { type: 'adaptive', display: 'omitted' },
  });
  const expected: InferenceRequest = {
    dialect: 'anthropic-messages',
    model: 'm',
    stream: true,
    instructions: [{ kind: 'text', text: 'Be brief.', path: 'system.0' }],
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi', path: 'messages.0.content' }] }],
    tools: [{ kind: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true, path: 'tools.0' }],
    toolChoice: { kind: 'required' },
    parallelToolCalls: false,
    outputTokensMax: 50,
    stopSequences: ['END'],
    outputFormat: { kind: 'json-schema', schema: { type: 'object' } },
    sampling: { temperature: 0.5, topP: 0.9, topK: 3 },
    reasoning: { mode: 'auto', effort: 'high', visible: false, wantsProofs: true },
    endUser: 'u1',
    serviceTier: 'default',
    vendorFields: [
      { field: 'tools.0.cache_control', value: { type: 'ephemeral' }, weight: 'hint' },
      { field: 'system.0.cache_control', value: { type: 'ephemeral' }, weight: 'hint' },
    ],
  };
  assert.deepEqual(request, expected);
});

for (const [thinking, output, reasoning] of [
  [undefined, undefined, undefined],
  [{ type: 'disabled' }, { effort: 'high' }, { mode: 'off' }],
  [{ type: 'enabled', budget_tokens: 2048 }, undefined, { mode: 'on', budgetTokens: 2048, visible: true, wantsProofs: true }],
  [{ type: 'adaptive' }, undefined, { mode: 'auto', visible: true, wantsProofs: true }],
  [undefined, { effort: 'max' }, { mode: 'auto', effort: 'max' }],
  [undefined, { effort: 'unheard-of' }, undefined],
] as const) {
  test(`thinking ${JSON.stringify(thinking)} with ${JSON.stringify(output)} is read`, () => {
    assert.deepEqual(decode({ max_tokens: 4096, thinking, output_config: output }).reasoning, reasoning);
  });
}

for (const [choice, decoded] of [
  [
    { type: 'auto', disable_parallel_tool_use: false },
    { toolChoice: { kind: 'auto' }, parallelToolCalls: true },
  ],
  [{ type: 'none' }, { toolChoice: { kind: 'none' } }],
  [{ type: 'tool', name: 'f' }, { toolChoice: { kind: 'function', name: 'f' } }],
] as const) {
  test(`tool_choice ${choice.type} is read`, () => {
    const { toolChoice, parallelToolCalls } = decode({ tools: [{ name: 'f', input_schema: {} }], tool_choice: choice });
    assert.deepEqual({ toolChoice, ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }) }, decoded);
  });
}

test('a conversation with thinking, calls, results and errors is read', () => {
  const { turns } = decode({
    messages: [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'S' },
          { type: 'redacted_thinking', data: 'R' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', is_error: true, content: [{ type: 'text', text: 'broke' }] },
          { type: 'text', text: 'And?' },
        ],
      },
      { role: 'system', content: 'Be kind.' },
    ],
  });
  const path = (message: number, block: number): string => `messages.${message}.content.${block}`;
  assert.deepEqual(turns.slice(1), [
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: ['Hm'], proof: { origin: 'anthropic', blob: 'S' }, path: path(1, 0) },
        { kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'R', hidden: true }, path: path(1, 1) },
        { kind: 'text', text: 'I look.', path: path(1, 2) },
        { kind: 'tool-call', id: 't1', name: 'f', arguments: '{"a":1}', path: path(1, 3) },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          kind: 'tool-result',
          callId: 't1',
          content: [{ kind: 'text', text: 'broke', path: 'messages.2.content.0.content.0' }],
          isError: true,
          path: path(2, 0),
        },
        { kind: 'text', text: 'And?', path: path(2, 1) },
      ],
    },
    { role: 'system', parts: [{ kind: 'text', text: 'Be kind.', path: 'messages.3.content' }] },
  ]);
});

test('images, documents and search results are read inline, by address and by file', () => {
  assert.deepEqual(
    partsOf('user', [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'T', context: 'C' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      { type: 'document', source: { type: 'url', url: 'https://a.example/d.pdf' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'one' },
            { type: 'image', source: { type: 'url', url: 'https://a.example/2.png' } },
          ],
        },
      },
      { type: 'search_result', source: 'https://s.example/', title: 'S', content: [{ type: 'text', text: 'found' }] },
    ]),
    [
      { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AAAA' } },
      { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/i.png' } },
      {
        kind: 'media',
        media: 'file',
        source: { kind: 'inline', mediaType: 'application/pdf', data: 'JVBE' },
        title: 'T',
        context: 'C',
      },
      { kind: 'media', media: 'file', source: { kind: 'text', text: 'words' } },
      { kind: 'media', media: 'file', source: { kind: 'url', url: 'https://a.example/d.pdf' } },
      { kind: 'media', media: 'file', source: { kind: 'vendor-file', id: 'file_1' } },
      { kind: 'media', media: 'file', source: { kind: 'text', text: 'one' } },
      { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/2.png' } },
      { kind: 'media', media: 'file', source: { kind: 'text', text: 'found' }, title: 'S', context: 'Source: https://s.example/' },
    ],
  );
});

test('results of tools are read: images, documents, references, nothing', () => {
  const result = (content: JsonValue | undefined): unknown => {
    const [turn] = decode({ messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] }] }).turns;
    const [part] = turn?.parts ?? [];
    return part?.kind === 'tool-result' ? part.content.map(({ path: _path, ...piece }) => piece) : undefined;
  };
  assert.deepEqual(result(undefined), []);
  assert.deepEqual(result(''), []);
  assert.deepEqual(result('ok'), [{ kind: 'text', text: 'ok' }]);
  assert.deepEqual(
    result([
      { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
      { type: 'tool_reference', tool_name: 'g' },
      { type: 'odd', a: 1 },
    ]),
    [
      { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/i.png' } },
      { kind: 'text', text: 'g' },
      { kind: 'text', text: '{"type":"odd","a":1}' },
    ],
  );
});

test('wrapped proofs are restored; the mark of a missing proof, and damaged proofs, are not proofs', () => {
  const proof = { origin: 'openai', blob: 'enc' };
  const thinking = (signature: string): unknown => partsOf('assistant', [{ type: 'thinking', thinking: 'x', signature }])[0];
  assert.deepEqual(thinking(writeSignature(proof)), { kind: 'reasoning', text: ['x'], proof });
  assert.deepEqual(thinking(writeSignature(undefined)), { kind: 'reasoning', text: ['x'] });
  assert.deepEqual(thinking('gw1.damaged'), { kind: 'reasoning', text: ['x'] });
  assert.deepEqual(thinking(''), { kind: 'reasoning', text: ['x'] });
  assert.deepEqual(partsOf('assistant', [{ type: 'redacted_thinking', data: wrapProof({ ...proof, hidden: true }) }]), [
    { kind: 'reasoning', text: [], proof: { ...proof, hidden: true } },
  ]);
});

test('the proof of a call returns to its call, before it or after it (langgenius/dify#29187, anomalyco/opencode#4832)', () => {
  const carried = (id: string): JsonObject => ({
    type: 'thinking',
    thinking: '',
    signature: writeCallProof(id, { origin: 'gemini', blob: `G ${id}` }),
  });
  const call = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: {} });
  assert.deepEqual(partsOf('assistant', [carried('a'), call('a'), call('b'), carried('b'), carried('lost')]), [
    { kind: 'tool-call', id: 'a', name: 'f', arguments: '{}', proof: { origin: 'gemini', blob: 'G a' } },
    { kind: 'tool-call', id: 'b', name: 'f', arguments: '{}', proof: { origin: 'gemini', blob: 'G b' } },
  ]);
});

test('server tools and their results become one part, and cited text keeps its sources', () => {
  const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } };
  const found = { type: 'web_search_result', url: 'https://a.example/', title: 'A', encrypted_content: 'E' };
  const result = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [found] };
  const ran = { type: 'server_tool_use', id: 'srvtoolu_2', name: 'bash_code_execution', input: { command: 'ls' } };
  const printed = {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srvtoolu_2',
    content: { type: 'bash_code_execution_result', stdout: 'a', stderr: 'b', return_code: 0, content: [] },
  };
  const page = { type: 'page_location', cited_text: 'c', document_index: 0, document_title: 'D', start_page_number: 3, end_page_number: 4 };
  assert.deepEqual(partsOf('assistant', [use, result, ran, printed, { type: 'text', text: 'x', citations: [page] }]), [
    {
      kind: 'server-tool',
      tool: 'web-search',
      id: 'srvtoolu_1',
      input: ['q'],
      results: [{ url: 'https://a.example/', title: 'A' }],
      wire: [use, result],
    },
    { kind: 'server-tool', tool: 'code-execution', id: 'srvtoolu_2', input: ['ls'], results: [{ text: 'a\nb' }], wire: [ran, printed] },
    {
      kind: 'text',
      text: 'x',
      citations: [{ citedText: 'c', title: 'D', source: { kind: 'document', index: 0, locator: 'page 3' } }],
    },
  ]);
});

test('tools of the vendor are read', () => {
  const { tools } = decode({
    tools: [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 2,
        allowed_domains: ['a.example'],
        user_location: { type: 'approximate', city: 'Ghent' },
      },
      { type: 'code_execution_20250825', name: 'code_execution' },
      { type: 'memory_20250818', name: 'memory' },
      { type: 'web_fetch_20250910', name: 'web_fetch' },
    ],
  });
  assert.deepEqual(tools, [
    { kind: 'web-search', maxUses: 2, allowedDomains: ['a.example'], userLocation: { city: 'Ghent' }, path: 'tools.0' },
    { kind: 'code-execution', path: 'tools.1' },
    { kind: 'vendor', name: 'memory_20250818', wire: { type: 'memory_20250818', name: 'memory' }, path: 'tools.2' },
    { kind: 'url-context', path: 'tools.3' },
  ]);
});

test('a search among deferred tools is noted and left out, because all tools are loaded elsewhere', () => {
  const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
  const { tools, vendorFields } = decode({ tools: [search, { name: 'f', input_schema: {}, defer_loading: true }] });
  assert.deepEqual(
    tools.map((tool) => (tool.kind === 'function' ? tool.name : tool.kind)),
    ['f'],
  );
  assert.deepEqual(
    vendorFields.filter(({ weight }) => weight === 'matters'),
    [{ field: 'tools.0', value: search, weight: 'matters' }],
  );
});

test('fields without a neutral name are weighted by their effect on the answer', () => {
  const { vendorFields } = decode({
    cache_control: { type: 'ephemeral' },
    safeguards: {},
    mcp_servers: [],
    thread: false,
    diagnostics: null,
    inference_geo: 'eu',
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    something_new: 1,
    output_config: { task_budget: { tokens: 1 } },
    tools: [{ name: 'f', input_schema: {}, defer_loading: true, input_examples: [{}] }],
    messages: [
      {
        role: 'user',
        content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, citations: { enabled: true } }],
      },
    ],
  });
  assert.deepEqual(
    vendorFields.map(({ field, weight }) => `${field} ${weight}`),
    [
      'cache_control hint',
      'safeguards harmless',
      'mcp_servers harmless',
      'thread harmless',
      'inference_geo matters',
      'context_management hint',
      'something_new matters',
      'output_config.task_budget matters',
      'tools.0.defer_loading hint',
      'tools.0.input_examples matters',
      'messages.0.content.0.citations matters',
    ],
  );
  const compacting = decode({ context_management: { edits: [{ type: 'compact_20260112' }] } });
  assert.deepEqual(compacting.vendorFields[0]?.weight, 'matters');
});

for (const [field, body, code] of [
  ['thread', { thread: { type: 'create' } }, 'thread_unsupported'],
  ['container', { container: 'container_1' }, 'untranslatable_field'],
  ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://a.example/' }] }, 'untranslatable_field'],
  ['max_tokens', { max_tokens: 0 }, 'untranslatable_field'],
] as const) {
  test(`${field} exists only at the vendor and is refused`, () => {
    assert.throws(() => decode(body), { code, param: field });
  });
}

test('a request for a count has no limit and no stream', () => {
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
  const request = codec.decodeRequest({ operation: 'count-tokens', body, headers });
  assert.equal(request.stream, false);
  assert.equal(request.outputTokensMax, undefined);
});

test('empty text is left out (anthropics/claude-code#50082)', () => {
  assert.deepEqual(partsOf('assistant', ''), []);
});
