import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { assertEventGrammar } from '../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../inference/fold-events.ts';
import { serializeBlocks } from '../../../inference/serialize-blocks.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeReply } from './decode-reply.ts';
import {
  callItem,
  createReading,
  decodeStream,
  messageItem,
  outputText,
  readFixture,
  readJsonFixture,
  responseOf,
  streamOf,
} from './testing/test-kit.ts';

const fixtures = readdirSync(join(import.meta.dirname, '../fixtures'));
const namesOf = (ending: string): readonly string[] =>
  fixtures.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));

describe('fixtures', () => {
  for (const name of namesOf('.stream.sse')) {
    test(`stream ${name} gives the same valid events for chunks of any size`, () => {
      const body = readFixture(`${name}.stream.sse`);
      const expected = decodeStream(body);
      assertEventGrammar(expected);
      for (const size of [1, 2, 3, 5, 7, 11, 61, 127, 512]) assert.deepEqual(decodeStream(body, size), expected, `pieces of ${size} bytes`);
    });

    test(`stream ${name} never finishes if it is cut anywhere`, () => {
      const body = readFixture(`${name}.stream.sse`);
      const end = body.lastIndexOf('event: response.');
      for (let at = 0; at <= end; at += 41) {
        const events = decodeStream(body.subarray(0, at), 512);
        assert.ok(!events.some((event) => event.type === 'finished'), `cut at ${at}`);
      }
    });
  }

  for (const name of namesOf('.stream.sse').filter((each) => fixtures.includes(`${each}.reply.json`))) {
    test(`${name} as a stream adds up to the expected reply`, () => {
      const streamed = foldEvents(decodeStream(readFixture(`${name}.stream.sse`)));
      assert.deepEqual(streamed, decodeReply(readJsonFixture(`${name}.reply.json`), createReading()));
    });
  }
});

describe('streams of servers that imitate the vendor', () => {
  const created: JsonObject = { type: 'response.created', response: responseOf([], { status: 'in_progress' }) };
  const completed = (...output: JsonObject[]): JsonObject => ({ type: 'response.completed', response: responseOf(output) });
  const add = (output_index: number, item: JsonObject): JsonObject => ({ type: 'response.output_item.added', output_index, item });
  const done = (output_index: number, item: JsonObject): JsonObject => ({ type: 'response.output_item.done', output_index, item });
  const textDelta = (output_index: number, delta: string, item_id = 'msg_1'): JsonObject => ({
    type: 'response.output_text.delta',
    item_id,
    output_index,
    content_index: 0,
    delta,
  });
  const argsDelta = (output_index: number, delta: string): JsonObject => ({
    type: 'response.function_call_arguments.delta',
    item_id: 'fc',
    output_index,
    delta,
  });
  const open = (id: string): JsonObject => ({ ...callItem(id, ''), status: 'in_progress' });

  const cases: readonly (readonly [name: string, events: readonly JsonObject[], output: readonly JsonObject[]])[] = [
    [
      'all content only in the last event',
      [completed(messageItem(outputText('Hi')), callItem('1', '{}'))],
      [messageItem(outputText('Hi')), callItem('1', '{}')],
    ],
    [
      'deltas without opening events (BerriAI/litellm#22102)',
      [textDelta(0, 'H'), textDelta(0, 'i'), completed(messageItem(outputText('Hi')))],
      [messageItem(outputText('Hi'))],
    ],
    [
      'a different id in every event, as Copilot sends them',
      [
        created,
        add(0, messageItem()),
        textDelta(0, 'H', 'x1'),
        textDelta(0, 'i', 'x2'),
        done(0, { ...messageItem(outputText('Hi')), id: 'x3' }),
        completed({ ...messageItem(outputText('Hi')), id: 'x4' }),
      ],
      [messageItem(outputText('Hi'))],
    ],
    [
      'arguments only in the done event (BerriAI/litellm#25321)',
      [
        created,
        add(0, open('1')),
        { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc', arguments: '{"a":1}' },
        completed(callItem('1', '{"a":1}')),
      ],
      [callItem('1', '{"a":1}')],
    ],
    [
      'arguments only at the end of the item',
      [created, add(0, open('1')), done(0, callItem('1', '{"a":1}')), completed()],
      [callItem('1', '{"a":1}')],
    ],
    [
      'arguments before the name of the function',
      [created, argsDelta(0, '{"a"'), argsDelta(0, ':1}'), done(0, callItem('1', '{"a":1}')), completed(callItem('1', '{"a":1}'))],
      [callItem('1', '{"a":1}')],
    ],
    [
      'interleaved deltas of parallel calls (sgl-project/sglang#39782)',
      [
        created,
        add(0, open('1')),
        add(1, open('2')),
        argsDelta(0, '{"a"'),
        argsDelta(1, '{"b"'),
        argsDelta(0, ':1}'),
        argsDelta(1, ':2}'),
        completed(callItem('1', '{"a":1}'), callItem('2', '{"b":2}')),
      ],
      [callItem('1', '{"a":1}'), callItem('2', '{"b":2}')],
    ],
    [
      'an item that is announced twice',
      [created, add(0, open('1')), add(0, open('1')), argsDelta(0, '{}'), done(0, callItem('1', '{}')), completed(callItem('1', '{}'))],
      [callItem('1', '{}')],
    ],
    [
      'all items with the same index',
      [
        created,
        add(0, messageItem()),
        textDelta(0, 'Hi'),
        done(0, messageItem(outputText('Hi'))),
        add(0, open('1')),
        argsDelta(0, '{}'),
        done(0, callItem('1', '{}')),
        completed(messageItem(outputText('Hi')), callItem('1', '{}')),
      ],
      [messageItem(outputText('Hi')), callItem('1', '{}')],
    ],
    [
      'indexes that differ from the final output',
      [
        created,
        add(3, messageItem()),
        textDelta(3, 'Hi'),
        done(3, messageItem(outputText('Hi'))),
        completed(messageItem(outputText('Hi'))),
      ],
      [messageItem(outputText('Hi'))],
    ],
    [
      'a refusal in deltas',
      [
        created,
        add(0, messageItem()),
        { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'N' },
        { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'o' },
        { type: 'response.refusal.done', output_index: 0, content_index: 0, refusal: 'No' },
        completed(messageItem({ type: 'refusal', refusal: 'No' })),
      ],
      [messageItem({ type: 'refusal', refusal: 'No' })],
    ],
    [
      'the last words of a text only in its final event',
      [
        created,
        add(0, messageItem()),
        textDelta(0, 'H'),
        { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hi' },
        completed(messageItem(outputText('Hi'))),
      ],
      [messageItem(outputText('Hi'))],
    ],
    [
      'annotations only at the end of the part',
      [
        created,
        add(0, messageItem()),
        textDelta(0, 'Hi'),
        {
          type: 'response.content_part.done',
          output_index: 0,
          content_index: 0,
          part: outputText('Hi', [{ type: 'url_citation', start_index: 0, end_index: 2, title: 'T', url: 'u' }]),
        },
        completed(messageItem(outputText('Hi', [{ type: 'url_citation', start_index: 0, end_index: 2, title: 'T', url: 'u' }]))),
      ],
      [messageItem(outputText('Hi', [{ type: 'url_citation', start_index: 0, end_index: 2, title: 'T', url: 'u' }]))],
    ],
    [
      'reasoning text of open weights',
      [
        created,
        add(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
        { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm' },
        { type: 'response.reasoning_text.done', output_index: 0, content_index: 0, text: 'Hm.' },
        done(0, { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }),
        completed({ type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }),
      ],
      [{ type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }],
    ],
  ];
  for (const [name, events, output] of cases) {
    test(name, () => {
      const read = decodeStream(streamOf(events));
      assertEventGrammar(read);
      assert.deepEqual(foldEvents(read).parts, decodeReply(responseOf(output), createReading()).parts);
      const line = serializeBlocks();
      assert.deepEqual(foldEvents(read.flatMap((event) => line(event))).parts, foldEvents(read).parts);
    });
  }

  test('a new block ends the text before it, even if the server sends no end', () => {
    const events = decodeStream(streamOf([created, add(0, messageItem()), textDelta(0, 'Hi'), add(1, open('1'))]));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['started', 'block-started', 'delta', 'block-ended', 'block-started'],
    );
  });

  test('the event gives the status if the response has none', () => {
    const events = decodeStream(streamOf([{ type: 'response.incomplete', response: { output: [] } }]));
    assert.equal(events.at(-1)?.type === 'finished' && events.at(-1), events.at(-1));
    assert.equal(foldEvents(events).stopReason, 'output-limit');
  });

  test('a failed response has usage and no end', () => {
    const failed = {
      type: 'response.failed',
      response: responseOf([], { status: 'failed', usage: { input_tokens: 1, output_tokens: 0 } }),
    };
    assert.deepEqual(
      decodeStream(streamOf([created, failed, completed(messageItem(outputText('x')))])).map(({ type }) => type),
      ['started', 'usage'],
    );
  });

  test('frames that are not events are skipped', () => {
    const body = Buffer.from(
      ': hi\n\ndata: [DONE]\n\ndata: {\n\ndata: 5\n\nevent: x\ndata: {"type":"brand.new"}\n\ndata: {"type":"response.output_text.delta"}\n\n',
    );
    assert.deepEqual(decodeStream(body), []);
  });

  test('the type may be in the event line alone', () => {
    const body = Buffer.from('event: response.output_text.delta\ndata: {"delta":"Hi","output_index":0,"content_index":0}\n\n');
    assert.deepEqual(
      decodeStream(body).map(({ type }) => type),
      ['started', 'block-started', 'delta'],
    );
  });
});

describe('arbitrary streams', () => {
  const types = [
    'response.created',
    'response.output_item.added',
    'response.content_part.done',
    'response.output_text.delta',
    'response.output_text.done',
    'response.output_text.annotation.added',
    'response.refusal.delta',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_part.done',
    'response.reasoning_text.delta',
    'response.output_item.done',
    'response.completed',
    'response.failed',
  ];
  const item = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      {},
      messageItem(outputText('a')),
      messageItem(),
      callItem('1', '{}'),
      { type: 'function_call' },
      { type: 'web_search_call', action: 5 },
    ),
    fc.constantFrom<unknown>(
      { type: 'reasoning', summary: [{ text: 'x' }], encrypted_content: 'g' },
      { type: 'message', content: [null, { type: 'refusal' }] },
    ),
    fc.jsonValue(),
  );
  const event = fc.record({
    type: fc.constantFrom(...types),
    output_index: fc.constantFrom<unknown>(0, 1, 2, undefined, 'x'),
    content_index: fc.constantFrom<unknown>(0, 1, undefined, -1),
    summary_index: fc.constantFrom<unknown>(0, 1, undefined),
    delta: fc.constantFrom<unknown>('a', '', undefined, 5),
    text: fc.constantFrom<unknown>('ab', undefined),
    arguments: fc.constantFrom<unknown>('{}', undefined),
    item,
    part: fc.oneof(fc.constant(outputText('abc')), fc.jsonValue()),
    annotation: fc.constantFrom<unknown>({ type: 'url_citation', url: 'u' }, {}, 5),
    response: fc.oneof(fc.record({ output: fc.array(item, { maxLength: 3 }) }), fc.jsonValue()),
  });

  test('never throw, and give valid events', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => assertEventGrammar(decodeStream(streamOf(events as JsonObject[])))),
      { numRuns: 1000 },
    );
  });
});

describe('log probabilities', () => {
  const entry = (token: string): JsonObject => ({ token, logprob: -0.5, bytes: null, top_logprobs: [{ token: 'No', logprob: -3 }] });
  const expected = (token: string) => ({ token, logprob: -0.5, alternatives: [{ token: 'No', logprob: -3 }] });
  const delta = (text: string, logprobs: readonly JsonObject[]): JsonObject => ({
    type: 'response.output_text.delta',
    item_id: 'msg',
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: [...logprobs],
  });
  const end = (logprobs: readonly JsonObject[]): readonly JsonObject[] => {
    const part = { ...outputText('Hi there'), logprobs: [...logprobs] };
    return [
      { type: 'response.output_text.done', item_id: 'msg', output_index: 0, content_index: 0, text: 'Hi there', logprobs: [...logprobs] },
      { type: 'response.content_part.done', item_id: 'msg', output_index: 0, content_index: 0, part },
      { type: 'response.completed', response: responseOf([messageItem(part)]) },
    ];
  };
  const all = [entry('Hi'), entry(' there')];
  const cases: readonly (readonly [name: string, events: readonly JsonObject[]])[] = [
    ['with each delta, and all again at the end', [delta('Hi', [entry('Hi')]), delta(' there', [entry(' there')]), ...end(all)]],
    ['with some deltas only', [delta('Hi', [entry('Hi')]), delta(' there', []), ...end(all)]],
    ['at the end only', [delta('Hi', []), delta(' there', []), ...end(all)]],
    ['with no delta at all', end(all)],
  ];
  for (const [name, events] of cases)
    test(`are read once: ${name}`, () => {
      const decoded = decodeStream(streamOf(events));
      assertEventGrammar(decoded);
      const { logprobs, parts } = foldEvents(decoded);
      assert.deepEqual(logprobs, [expected('Hi'), expected(' there')]);
      assert.deepEqual(parts, [{ kind: 'text', text: 'Hi there' }]);
    });

  test('are omitted if they are malformed', () => {
    const odd = [null, 5, { token: 'a' }, { token: 1, logprob: 0 }, entry('Hi')] as unknown as readonly JsonObject[];
    assert.deepEqual(foldEvents(decodeStream(streamOf([delta('Hi there', odd), ...end([])]))).logprobs, [expected('Hi')]);
  });
});
