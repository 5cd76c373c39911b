import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { chatDialects } from '../../src/dialects/registry.ts';
import { citeSources } from '../../src/gateway/endpoints/chat/tool-loop/cite-sources.ts';
import { foldEvents } from '../../src/inference/fold-events.ts';
import type { InferenceReply } from '../../src/inference/inference-reply.ts';
import { replayReply } from '../../src/inference/replay-reply.ts';
import { createTranslationNotes } from '../../src/inference/translation-notes.ts';
import type { Wire } from './wire.ts';

const before = '😀 世界 has a weir 👩‍👩‍👧. ';
const cited = 'It is é 🏞️ old.';
const text = `${before}${cited} Ask 🐈.`;
const url = 'https://example.com/weir';

const points = (value: string): number => Array.from(value).length;
const slicePoints = (value: string, start: number, end: number): string => Array.from(value).slice(start, end).join('');
const sliceBytes = (value: string, start: number, end: number): string => Buffer.from(value).subarray(start, end).toString();

/** A reply as each vendor writes it, in the unit of its offsets. */
const replies: Readonly<Record<DialectId, Wire>> = {
  'anthropic-messages': {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: before },
      {
        type: 'text',
        text: cited,
        citations: [{ type: 'web_search_result_location', url, title: 'Weir', cited_text: 'old 🏞️', encrypted_index: 'e' }],
      },
      { type: 'text', text: ' Ask 🐈.' },
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  'openai-responses': {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [
          {
            type: 'output_text',
            text,
            annotations: [{ type: 'url_citation', url, title: 'Weir', start_index: points(before), end_index: points(before + cited) }],
          },
        ],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  'openai-chat': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: text,
          annotations: [
            { type: 'url_citation', url_citation: { url, title: 'Weir', start_index: points(before), end_index: points(before + cited) } },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  'gemini-generate-content': {
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        finishReason: 'STOP',
        groundingMetadata: {
          webSearchQueries: ['weir'],
          groundingChunks: [{ web: { uri: url, title: 'Weir' } }],
          groundingSupports: [
            {
              segment: { startIndex: Buffer.byteLength(before), endIndex: Buffer.byteLength(before + cited), text: cited },
              groundingChunkIndices: [0],
            },
          ],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
};

/** The cited text for a client of each interface, by the unit that the interface documents. */
const citedIn: Readonly<Record<DialectId, (reply: Wire) => readonly string[]>> = {
  // The block is the span.
  'anthropic-messages': ({ content }) =>
    content.flatMap((block: Wire) => (block.citations === undefined || block.citations === null ? [] : [block.text])),
  'openai-responses': ({ output }) =>
    output
      .flatMap((item: Wire) => item.content ?? [])
      .flatMap((part: Wire) => part.annotations.map((one: Wire) => slicePoints(part.text, one.start_index, one.end_index))),
  'openai-chat': ({ choices }) =>
    (choices[0].message.annotations ?? []).map(({ url_citation: one }: Wire) =>
      slicePoints(choices[0].message.content, one.start_index, one.end_index),
    ),
  'gemini-generate-content': ({ candidates }) => {
    const said = candidates[0].content.parts.map((part: Wire) => part.text ?? '').join('');
    return candidates[0].groundingMetadata.groundingSupports.map(({ segment }: Wire) =>
      sliceBytes(said, segment.startIndex ?? 0, segment.endIndex),
    );
  },
};

const dialects = Object.values(chatDialects);

function write(client: DialectId, reply: InferenceReply): Wire {
  const { codec } = chatDialects[client];
  let last = 0;
  const writing = {
    requestId: 'req_1',
    requestedModel: 'm',
    request: {},
    createdAtMs: 0,
    nowMs: () => 0,
    inputTokensEstimate: 1,
    newId: (prefix: string) => `${prefix}_${(last += 1)}`,
    notes: createTranslationNotes(codec.fieldNames, false),
  };
  return JSON.parse(JSON.stringify(codec.encodeReply(reply, writing)));
}

/** Messages has no offsets in a text: if the span is not a block of its own, the whole text is cited. */
const isCited = (client: DialectId, span: string): boolean => span === cited || (client === 'anthropic-messages' && span.includes(cited));

describe('positions of citations in a text with emoji', () => {
  for (const upstream of dialects) {
    for (const client of dialects) {
      test(`citations of ${upstream.title} cover the same words for a client of ${client.title}`, () => {
        const { codec } = upstream;
        const notes = createTranslationNotes(codec.fieldNames, false);
        const reply = codec.decodeReply(replies[upstream.id], { proofOrigin: 'vendor', newId: (prefix) => `${prefix}_1`, notes });
        const spans = citedIn[client.id](write(client.id, reply));
        assert.ok(spans.length > 0, 'the source is named');
        for (const span of spans) assert.ok(isCited(client.id, span), JSON.stringify(span));
      });
    }
  }

  for (const client of dialects) {
    test(`citations of the gateway's search are whole sentences for a client of ${client.title}`, () => {
      const source = { number: 3, citation: { title: 'Weir', source: { kind: 'url', url } } } as const;
      const cite = citeSources(new Map([[3, source]]));
      const said = foldEvents([
        { type: 'started', servedModel: 'm' },
        { type: 'block-started', index: 0, block: { kind: 'text' } },
        { type: 'delta', index: 0, text: `${before}${cited}【3】 Ask 🐈.` },
        { type: 'block-ended', index: 0 },
        { type: 'finished', stopReason: 'end' },
      ]);
      const reply = foldEvents(replayReply(said).flatMap((event) => cite(event)));
      const spans = citedIn[client.id](write(client.id, reply));
      assert.ok(spans.length > 0, 'the source is named');
      for (const span of spans) assert.ok(isCited(client.id, span), JSON.stringify(span));
    });
  }
});
