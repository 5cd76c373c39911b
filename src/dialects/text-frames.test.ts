import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { anyUnit } from '../platform/testing/any-unit.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { createSseFrameReader } from '../platform/sse/sse-frame-reader.ts';
import type { StreamTap } from './chat-dialect.ts';
import { chatDialects } from './registry.ts';

const { 'openai-chat': chat, 'anthropic-messages': messages } = chatDialects;

type Case = {
  readonly name: string;
  readonly openTap: () => StreamTap;
  readonly text: (text: string) => string;
  readonly other: readonly string[];
};

const sse = (data: JsonObject, newline = '\n'): string => `data: ${JSON.stringify(data)}${newline}${newline}`;
const choice = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({ id: 'c', model: 'm', choices: [{ index: 0, delta, ...more }] });
const named = (event: string, data: JsonObject): string => `event: ${event}\n${sse({ type: event, ...data })}`;
const blockDelta = (delta: JsonObject, index = 0): string => named('content_block_delta', { index, delta });

const cases: readonly Case[] = [
  {
    name: 'chat completions',
    openTap: () => chat.createStreamTap({ framing: 'sse', request: {} }),
    text: (content) => sse(choice({ content }, { finish_reason: null })),
    other: [
      sse(choice({ role: 'assistant', content: '' })),
      sse({ ...choice({ content: 'other model' }), model: 'n', service_tier: 'flex' }),
      sse({ ...choice({ content: 'counted' }), usage: { prompt_tokens: 3, completion_tokens: 2 } }),
      sse(choice({ content: 'last' }, { finish_reason: 'stop' })),
      sse(choice({ tool_calls: [{ index: 0, function: { arguments: '{"content":"x"}' } }] })),
      sse({ ...choice({ content: 'padded' }), obfuscation: 'aq7' }),
      sse({ ...choice({ content: 'padded' }), obfuscation: 'b' }),
      sse({ error: { message: 'broken', content: 'x' } }),
      'data: {"choices":[{"index":0,"delta":{"content":"not \\x JSON"}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"pair \\ud83c\\udf0a"}}]}\r\n\r\n',
      ': comment\n\n',
      'data: [DONE]\n\n',
    ],
  },
  {
    name: 'messages',
    openTap: () => messages.createStreamTap({ framing: 'sse', request: {} }),
    text: (text) => blockDelta({ type: 'text_delta', text }),
    other: [
      blockDelta({ type: 'thinking_delta', thinking: 'hm' }, 1),
      blockDelta({ type: 'input_json_delta', partial_json: '{"text":"a"}' }, 2),
      blockDelta({ type: 'signature_delta', signature: 'text' }),
      named('content_block_start', { index: 1, content_block: { type: 'text', text: 'begun' } }),
      named('message_start', { message: { id: 'i', model: 'm', usage: { input_tokens: 2, output_tokens: 1 } } }),
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
      named('ping', { text: 'x' }),
      named('error', { error: { type: 'overloaded_error', message: 'text' } }),
      named('message_stop', {}),
    ],
  },
];

const texts = fc.oneof(fc.string({ unit: anyUnit, maxLength: 8 }), fc.constantFrom('word', ' "quoted"\n', 'grüße 🌊', '\\', '\u0001'));
const framesOf = ({ text, other }: Case) =>
  fc.array(fc.array(fc.oneof({ weight: 3, arbitrary: texts.map(text) }, fc.constantFrom(...other)), { minLength: 1, maxLength: 4 }), {
    maxLength: 12,
  });

/** Reads chunks of whole frames, and recognizes those that can be. Returns the number that were recognized. */
function readChunks(tap: StreamTap, chunks: readonly string[], skims: boolean): number {
  const reader = createSseFrameReader({ frameBytesMax: 1 << 20 });
  let skimmed = 0;
  for (const chunk of chunks.map((text) => Buffer.from(text))) {
    const frames = skims && reader.isBetweenFrames?.() === true ? (tap.skim?.(chunk) ?? 0) : 0;
    skimmed += frames;
    if (frames === 0) for (const frame of reader.push(chunk)) tap.read(frame);
  }
  return skimmed;
}

for (const each of cases)
  describe(`frames of ${each.name} that only add text`, () => {
    test('are counted by their bytes as they are counted when they are parsed', () => {
      fc.assert(
        fc.property(framesOf(each), (chunks) => {
          const joined = chunks.map((frames) => frames.join(''));
          const parsing = each.openTap();
          const skimming = each.openTap();
          readChunks(parsing, joined, false);
          readChunks(skimming, joined, true);
          assert.deepEqual(skimming.report(), parsing.report());
          assert.equal(skimming.hasContent(), parsing.hasContent());
        }),
      );
    });

    test('are recognized after the first of them', () => {
      const chunks = ['a', ' "b"', 'grüße 🌊\n', ''].map(each.text);
      assert.equal(readChunks(each.openTap(), [...chunks, chunks.join('')], true), 7);
    });

    test('are not recognized in an incomplete chunk, which then counts for nothing', () => {
      const tap = each.openTap();
      readChunks(tap, [each.text('a')], true);
      const bytes = Buffer.from(each.text('bcd'));
      for (let length = 1; length < bytes.length; length++) assert.equal(tap.skim?.(bytes.subarray(0, length)), 0);
      assert.equal(tap.report().outputCharacters, 1);
    });
  });

test('a padded chunk of chat completions is recognized whatever its padding', () => {
  const padded = (content: string, obfuscation: string): string => sse({ ...choice({ content }), obfuscation });
  const tap = chat.createStreamTap({ framing: 'sse', request: {} });
  assert.equal(readChunks(tap, [padded('a', 'x9'), padded('b', 'abcdef'), padded('c', '')], true), 2);
});

test('frames that never repeat are not recognized, and are counted', () => {
  const tap = chat.createStreamTap({ framing: 'sse', request: {} });
  const chunks = Array.from({ length: 64 }, (_, at) => sse({ ...choice({ content: 'a' }), id: `c${at}` }));
  assert.equal(readChunks(tap, chunks, true), 0);
  assert.equal(tap.report().outputCharacters, 64);
});
