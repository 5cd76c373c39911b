import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { assertEventGrammar } from '../../inference/assert-event-grammar.ts';
import type { StreamReport } from '../chat-dialect.ts';
import { decodeFrames, readFrames } from '../testing/fake-translation.ts';
import { bedrockConverse } from './bedrock-converse.ts';
import { createReading } from './codec/testing/test-kit.ts';

/** Streams as the upstream's vendor hands them on: each event of a binary frame as a server-sent event. */
const folder = join(import.meta.dirname, 'fixtures');
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.stream.sse') ? [file.slice(0, -'.stream.sse'.length)] : []));

function feed(body: Buffer, chunkBytes: number): StreamReport {
  const tap = bedrockConverse.createStreamTap({ framing: 'sse', request: {} });
  for (const frame of readFrames(body, 'sse', chunkBytes)) assert.equal(tap.read(frame), 'forward');
  return tap.report();
}

function summarize({ usageReport, malformedFrames, ...report }: StreamReport): unknown {
  assert.equal(malformedFrames, 0);
  const { usage, serviceTier } = usageReport ?? {};
  return { ...report, ...(usage !== undefined && { usage }), ...(serviceTier !== undefined && { serviceTier }) };
}

for (const name of names)
  describe(name, () => {
    const body = readFileSync(join(folder, `${name}.stream.sse`));
    const expected: unknown = JSON.parse(readFileSync(join(folder, `${name}.expected.json`), 'utf8'));

    test('the tap reports what the stream says, for any chunk boundaries', () => {
      for (const chunkBytes of [body.length, 1, 7, 61]) assert.deepEqual(summarize(feed(body, chunkBytes)), expected);
    });

    test('the decoder keeps the grammar of events', () => {
      assertEventGrammar(decodeFrames(bedrockConverse.codec.createEventDecoder(createReading(), 'sse'), readFrames(body)));
    });
  });

test('the first piece of text alone is not content yet, because it may be the message of a guardrail', () => {
  const tap = bedrockConverse.createStreamTap({ framing: 'sse', request: {} });
  const seen = readFrames(readFileSync(join(folder, 'text.stream.sse'))).map((frame) => {
    tap.read(frame);
    return tap.hasContent();
  });
  assert.deepEqual(seen.slice(0, 4), [false, false, true, true]);
});

test('a prompt that a guardrail refused has no content until the end, so that another upstream may answer it', () => {
  const tap = bedrockConverse.createStreamTap({ framing: 'sse', request: {} });
  for (const frame of readFrames(readFileSync(join(folder, 'guardrail-refuses-prompt.stream.sse')))) tap.read(frame);
  assert.equal(tap.hasContent(), false);
});

test('a payload that is not JSON is counted', () => {
  const tap = bedrockConverse.createStreamTap({ framing: 'sse', request: {} });
  for (const frame of readFrames('event: contentBlockDelta\ndata: {"contentBlockIndex"\n\n')) tap.read(frame);
  assert.equal(tap.report().malformedFrames, 1);
});

test('a whole reply of a guardrail that refused the prompt is an error with its findings', () => {
  const refused = {
    output: { message: { role: 'assistant', content: [{ text: 'Sorry, not this.' }] } },
    stopReason: 'guardrail_intervened',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    trace: {
      guardrail: { inputAssessment: { gr1: { wordPolicy: { managedWordLists: [{ match: 'x', type: 'PROFANITY', action: 'BLOCKED' }] } } } },
    },
  };
  assert.deepEqual(bedrockConverse.readReply(refused).error, { message: 'Sorry, not this.', status: 400, filtered: 'PROFANITY' });
  const changed = { ...refused, usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 } };
  assert.equal(bedrockConverse.readReply(changed).error, undefined);
});

test('a 200 with only a message is an error', () => {
  assert.equal(bedrockConverse.readReply({ message: 'no' }).error?.message, 'no');
  assert.notEqual(bedrockConverse.readReply('text').error, undefined);
});
