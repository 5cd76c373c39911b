import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeReply } from './decode-reply.ts';
import { callItem, createReading, messageItem, outputText, responseOf } from './testing/test-kit.ts';

const read = (output: readonly JsonObject[], more: JsonObject = {}): InferenceReply =>
  decodeReply(responseOf(output, more), createReading());

describe('whole replies', () => {
  const parts: readonly (readonly [name: string, item: JsonObject, parts: readonly object[]])[] = [
    [
      'text',
      messageItem(outputText('a'), outputText('b')),
      [
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b' },
      ],
    ],
    ['an empty text', messageItem(outputText('')), []],
    ['a refusal', messageItem({ type: 'refusal', refusal: 'No.' }), [{ kind: 'refusal', text: 'No.' }]],
    [
      'reasoning with its paragraphs and proof',
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'a' },
          { type: 'summary_text', text: 'b' },
        ],
        encrypted_content: 'gAAA',
      },
      [{ kind: 'reasoning', text: ['a', 'b'], proof: { origin: 'openai', blob: 'gAAA' }, itemId: 'rs_1' }],
    ],
    ['empty reasoning without a proof', { type: 'reasoning', id: 'rs_1', summary: [] }, []],
    [
      'an opaque proof of another gateway',
      { type: 'reasoning', summary: [], encrypted_content: 'gw1.abc' },
      [{ kind: 'reasoning', text: [], proof: { origin: 'openai', blob: 'gw1.abc' } }],
    ],
    ['a call', callItem('1', '{"a":1}'), [{ kind: 'tool-call', id: 'call_1', name: 'f', arguments: '{"a":1}' }]],
    [
      'a call without an id',
      { type: 'function_call', name: 'f', arguments: '' },
      [{ kind: 'tool-call', id: 'call_1', name: 'f', arguments: '' }],
    ],
    [
      'citations of pages and files, and unknown ones',
      messageItem(
        outputText('Wet.', [
          { type: 'url_citation', start_index: 0, end_index: 4, title: 'T', url: 'https://example.org' },
          { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 3 },
          { type: 'brand_new' },
        ]),
      ),
      [
        {
          kind: 'text',
          text: 'Wet.',
          citations: [
            { start: 0, end: 4, title: 'T', source: { kind: 'url', url: 'https://example.org' } },
            { end: 3, title: 'a.pdf', source: { kind: 'document', fileId: 'file_1' } },
          ],
        },
      ],
    ],
    [
      'executed code',
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        code: '1+1',
        container_id: 'c',
        outputs: [{ type: 'logs', logs: '2' }],
      },
      [
        {
          kind: 'server-tool',
          tool: 'code-execution',
          id: 'ci_1',
          input: ['1+1'],
          results: [{ text: '2' }],
          wire: [
            {
              type: 'code_interpreter_call',
              id: 'ci_1',
              status: 'completed',
              code: '1+1',
              container_id: 'c',
              outputs: [{ type: 'logs', logs: '2' }],
            },
          ],
        },
      ],
    ],
    [
      'an image',
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBO' },
      [{ kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'iVBO' } }],
    ],
    ['an item of an unknown kind', { type: 'brand_new', id: 'x' }, []],
  ];
  for (const [name, item, expected] of parts) {
    test(name, () => assert.deepEqual(read([item]).parts, expected));
  }

  const ends: readonly (readonly [output: readonly JsonObject[], more: JsonObject, end: object])[] = [
    [[messageItem(outputText('a'))], {}, { stopReason: 'end' }],
    [[messageItem(outputText('a'))], { status: undefined }, { stopReason: 'end' }],
    [[messageItem(outputText('a')), callItem('1', '{}')], {}, { stopReason: 'tool-calls' }],
    [[messageItem({ type: 'refusal', refusal: 'No.' })], {}, { stopReason: 'refusal' }],
    [
      [],
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      { stopReason: 'output-limit', stopDetail: 'max_output_tokens' },
    ],
    [
      [],
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      { stopReason: 'refusal', stopDetail: 'content_filter' },
    ],
    [[], { status: 'incomplete', incomplete_details: null }, { stopReason: 'output-limit' }],
    [[callItem('1', '{"a')], { status: 'incomplete' }, { stopReason: 'output-limit' }],
    [[], { status: 'failed', error: { code: 'server_error', message: 'Broke.' } }, { stopReason: 'failed', stopDetail: 'Broke.' }],
    [[], { status: 'cancelled' }, { stopReason: 'failed', stopDetail: 'The response was cancelled.' }],
  ];
  for (const [output, more, end] of ends) {
    test(`the stop reason of ${JSON.stringify([output.length, more])} is read`, () => {
      const { stopReason, stopDetail } = read(output, more);
      assert.deepEqual({ stopReason, ...(stopDetail === undefined ? {} : { stopDetail }) }, end);
    });
  }

  test('usage is disjoint, and searches are counted', () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
    };
    const { usageReport } = read([{ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } }], {
      usage,
    });
    assert.deepEqual(usageReport?.usage, { inputTokens: 6, cacheReadTokens: 4, outputTokens: 5, reasoningTokens: 2, webSearches: 1 });
  });

  test('a body of another form is read as an empty reply without an exception', () => {
    for (const reply of [undefined, null, 5, 'x', [], {}, { output: 'x' }, { output: [null, 5, {}, { type: 'message' }] }]) {
      assert.deepEqual(decodeReply(reply, createReading()).parts, []);
    }
  });
});
