import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConverseStream, writeConverse } from './write-converse.ts';

const usage = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 30,
  cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
};
const counted = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 145,
  cacheReadInputTokens: 100,
  cacheWriteInputTokens: 30,
  cacheDetails: [
    { ttl: '5m', inputTokens: 20 },
    { ttl: '1h', inputTokens: 10 },
  ],
};

describe('a reply of Messages as one of Converse', () => {
  test('has its blocks in order, its counts, and the fields that were asked for', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'redacted_thinking', data: 'hidden' },
      { type: 'text', text: 'Yes.', citations: null },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
    ];
    const reply = { id: 'msg_1', content, stop_reason: 'refusal', stop_sequence: 'STOP', usage };
    assert.deepEqual(writeConverse(reply, 7, ['/stop_sequence', '/missing']), {
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'hidden' } },
            { text: 'Yes.' },
            { toolUse: { toolUseId: 'toolu_1', name: 'look', input: { at: 1 } } },
          ],
        },
      },
      stopReason: 'content_filtered',
      usage: counted,
      metrics: { latencyMs: 7 },
      additionalModelResponseFields: { stop_sequence: 'STOP' },
    });
  });

  test('as a stream: only calls have a start, and the usage comes last', () => {
    const stream = new ConverseStream(() => ['/stop_sequence']);
    const { output_tokens: _later, ...early } = usage;
    const events = [
      ['message_start', { message: { usage: early } }],
      ['ping', {}],
      ['content_block_start', { index: 0, content_block: { type: 'redacted_thinking', data: 'hidden' } }],
      ['content_block_stop', { index: 0 }],
      ['content_block_start', { index: 1, content_block: { type: 'text', text: '' } }],
      ['content_block_delta', { index: 1, delta: { type: 'text_delta', text: 'Yes.' } }],
      ['content_block_stop', { index: 1 }],
      ['content_block_start', { index: 2, content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} } }],
      ['content_block_delta', { index: 2, delta: { type: 'input_json_delta', partial_json: '{}' } }],
      ['content_block_stop', { index: 2 }],
      ['message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } }],
      ['message_stop', {}],
    ] as const;
    assert.deepEqual(
      events.flatMap(([type, event]) => stream.write(type, event, 9)),
      [
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: 'hidden' } } }],
        ['contentBlockStop', { contentBlockIndex: 0 }],
        ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Yes.' } }],
        ['contentBlockStop', { contentBlockIndex: 1 }],
        ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 'toolu_1', name: 'look' } } }],
        ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{}' } } }],
        ['contentBlockStop', { contentBlockIndex: 2 }],
        ['messageStop', { stopReason: 'tool_use', additionalModelResponseFields: { stop_sequence: null } }],
        ['metadata', { usage: counted, metrics: { latencyMs: 9 } }],
      ],
    );
  });
});
