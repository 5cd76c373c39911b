import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InferenceRequest, ServerToolPart } from '../../../../inference/inference-request.ts';
import { createFakeTool } from './testing/fake-loop.ts';
import { nameTools, offerTools } from './offer-tools.ts';
import { replayTools } from './replay-tools.ts';

const base: InferenceRequest = { model: 'm', stream: false, instructions: [], turns: [], tools: [], sampling: {}, vendorFields: [] };
const mine = { kind: 'function', name: 'mine' } as const;
const search: ServerToolPart = {
  kind: 'server-tool',
  tool: 'web-search',
  id: 'ws_1',
  input: ['cats'],
  results: [{ title: 'Cats', url: 'https://example.org', text: 'Cats purr.' }],
  wire: [{ type: 'web_search_call' }],
};

test('a choice of a built-in tool forces its function in the first round, and none after', () => {
  for (const name of ['web_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'googleSearch']) {
    const request: InferenceRequest = { ...base, tools: [mine, { kind: 'web-search' }], toolChoice: { kind: 'function', name } };
    const offered = nameTools([createFakeTool()], request);
    assert.deepEqual(offerTools(request, offered, 'as-chosen').toolChoice, { kind: 'function', name: 'web_search' });
    assert.deepEqual(offerTools(request, offered, 'freely').toolChoice, { kind: 'auto' });
    assert.deepEqual(offerTools(request, offered, 'withheld').toolChoice, { kind: 'allowed', names: ['mine'], required: false });
    assert.deepEqual(
      offerTools(request, offered, 'freely').tools.map((tool) => (tool.kind === 'function' ? tool.name : tool.kind)),
      ['mine', 'web_search'],
    );
  }
});

test('with the choice none, no tool is called', () => {
  const request: InferenceRequest = { ...base, tools: [{ kind: 'web-search' }], toolChoice: { kind: 'none' } };
  const offered = nameTools([createFakeTool()], request);
  for (const offer of ['as-chosen', 'freely', 'withheld'] as const)
    assert.deepEqual(offerTools(request, offered, offer).toolChoice, { kind: 'none' });
});

test('an earlier tool use becomes a call and its result if the tool is offered', () => {
  const answer = { kind: 'text', text: 'They purr.' } as const;
  const request: InferenceRequest = { ...base, turns: [{ role: 'assistant', parts: [search, answer] }] };
  const [call, result, rest] = replayTools(request, nameTools([createFakeTool()], request)).turns;
  assert.deepEqual(call?.parts, [{ kind: 'tool-call', id: 'ws_1', name: 'web_search', arguments: '{"query":"cats"}' }]);
  assert.equal(result?.role, 'user');
  assert.match(JSON.stringify(result), /Cats purr/);
  assert.deepEqual(rest?.parts, [answer]);
});

test('an earlier tool use without its tool or without results becomes a note', () => {
  const { results: _results, ...bare } = search;
  for (const part of [bare, { ...search, tool: 'code-execution' as const }]) {
    const request: InferenceRequest = { ...base, turns: [{ role: 'assistant', parts: [part] }] };
    const [turn, ...others] = replayTools(request, nameTools([createFakeTool()], request)).turns;
    assert.deepEqual(others, []);
    assert.equal(turn?.parts[0]?.kind, 'text');
    assert.match(JSON.stringify(turn), /cats/);
    assert.ok(!JSON.stringify(turn).includes('wire'));
  }
});
