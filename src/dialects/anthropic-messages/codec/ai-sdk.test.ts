import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type AnthropicProvider, createAnthropic } from '@ai-sdk/anthropic';
import { generateText, streamText } from 'ai';

import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { createWriting, encodeStream } from './testing/test-kit.ts';

/**
 * Everything that another vendor's reply can add to this dialect. The AI SDK rejects a whole reply because of one
 * unexpected member.
 */
const reply: InferenceReply = {
  parts: [
    { kind: 'reasoning', text: ['a', 'b'], proof: { origin: 'openai', blob: 'B' } },
    { kind: 'reasoning', text: [], proof: { origin: 'openai', blob: 'B', hidden: true } },
    { kind: 'server-tool', tool: 'web-search', id: 'ws_1', input: ['q'], results: [{ url: 'https://a.example/' }], wire: [] },
    { kind: 'server-tool', tool: 'web-search', id: 'ws_2', input: ['q'], failed: true, wire: [] },
    { kind: 'server-tool', tool: 'code-execution', id: 'ci_1', input: ['1'], results: [{ text: '1' }], wire: [] },
    {
      kind: 'text',
      text: 'cited',
      citations: [
        { source: { kind: 'url', url: 'https://a.example/' } },
        { citedText: 'c', source: { kind: 'document', locator: 'page 3' } },
      ],
    },
    { kind: 'tool-call', id: 'call_1', name: 'f', arguments: '{"a":1}', proof: { origin: 'gemini', blob: 'G' } },
  ],
  stopReason: 'tool-calls',
  usageReport: { usage: { inputTokens: 5, outputTokens: 3, webSearches: 1, reasoningTokens: 1 }, raw: {}, trustworthy: true },
};

function answerWith(body: string, type: string): ReturnType<AnthropicProvider> {
  return createAnthropic({ apiKey: 'k', fetch: async () => new Response(body, { headers: { 'content-type': type } }) })(
    'claude-sonnet-4-5',
  );
}

test('the AI SDK accepts a reply with all parts, whole and as a stream', async () => {
  const whole = await generateText({
    model: answerWith(JSON.stringify(encodeReply(reply, createWriting())), 'application/json'),
    prompt: 'Hi',
    maxRetries: 0,
  });
  const errors: unknown[] = [];
  const stream = streamText({
    model: answerWith(encodeStream(replayReply(reply)), 'text/event-stream'),
    prompt: 'Hi',
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
  });
  await stream.consumeStream();
  assert.deepEqual(errors, []);
  assert.deepEqual([whole.text, whole.reasoningText, whole.finishReason], ['cited', 'a\n\nb', 'tool-calls']);
  assert.deepEqual([await stream.text, await stream.reasoningText, await stream.finishReason], ['cited', 'a\n\nb', 'tool-calls']);
  // Sorted, because the proof of a call comes after the call if it arrives after the text.
  const typesOf = (content: readonly { readonly type: string }[]): readonly string[] => content.map(({ type }) => type).toSorted();
  assert.deepEqual(typesOf(await stream.content), typesOf(whole.content));
  const usage = await stream.usage;
  assert.deepEqual([usage.inputTokens, usage.outputTokens, whole.usage.inputTokens, whole.usage.outputTokens], [5, 3, 5, 3]);
});
