import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readReply } from './read-reply.ts';
import { ToolUses } from './tool-uses.ts';

const items = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
  { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'open_page' } },
  { type: 'file_search_call', id: 'fs_1', status: 'completed' },
  { type: 'file_search_call', id: 'fs_2', status: 'failed' },
  { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'cntr_1' },
  { type: 'code_interpreter_call', id: 'ci_2', status: 'completed', container_id: 'cntr_1' },
];

test('searches and file searches are counted by item, and containers once however often they ran', () => {
  const { usageReport } = readReply({
    object: 'response',
    status: 'completed',
    usage: { input_tokens: 5, output_tokens: 1 },
    output: items,
  });
  assert.deepEqual(usageReport?.usage, { inputTokens: 5, outputTokens: 1, webSearches: 1, fileSearches: 1, codeSessions: 1 });
});

test('a repeated item is counted once, and an item without an id by its position', () => {
  const uses = new ToolUses();
  for (const item of [...items, ...items]) uses.add(item, '0');
  for (const place of ['7', '8', '8']) uses.add({ type: 'file_search_call' }, place);
  uses.add(null, '9');
  assert.deepEqual(uses.complete(undefined)?.usage, { webSearches: 1, fileSearches: 3, codeSessions: 1 });
});

test('without tool uses the report stays unchanged', () => {
  assert.equal(new ToolUses().complete(undefined), undefined);
});
