import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeEnding } from './stop-reasons.ts';

test('each reason to stop has its meaning, and unusual ones an explanation', () => {
  const of = (reason: string, hasToolCalls = false) => decodeEnding(reason, hasToolCalls).stopReason;
  assert.deepEqual(
    ['end_turn', 'stop_sequence', 'max_tokens', 'tool_use', 'model_context_window_exceeded'].map((reason) => of(reason)),
    ['end', 'stop-sequence', 'output-limit', 'tool-calls', 'context-limit'],
  );
  assert.deepEqual(
    ['content_filtered', 'guardrail_intervened'].map((reason) => of(reason)),
    ['refusal', 'refusal'],
  );
  assert.deepEqual(
    ['malformed_model_output', 'malformed_tool_use'].map((reason) => of(reason)),
    ['failed', 'failed'],
  );
  assert.match(decodeEnding('malformed_tool_use', false).stopDetail ?? '', /tool call/);
  assert.deepEqual(decodeEnding('something_new', false), { stopReason: 'end' });
  assert.equal(of('end_turn', true), 'tool-calls');
});
