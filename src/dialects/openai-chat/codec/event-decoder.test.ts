import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { assertEventGrammar } from '../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { serializeBlocks } from '../../../inference/serialize-blocks.ts';
import { readFrames } from '../../testing/fake-translation.ts';
import { openFixtures } from '../../testing/fixture-suite.ts';
import { decodeReply } from './decode-reply.ts';
import { createEventDecoder } from './event-decoder.ts';
import { call, chunk, callPart, partsOf, stop } from './testing/fake-chunks.ts';
import { createReading, decodeChunks, frameOf, origin } from './testing/test-kit.ts';

const shown = { origin, blob: '' };

test('text and calls are read', () => {
  const cases: readonly [name: string, chunks: readonly unknown[], expected: readonly object[]][] = [
    [
      'content and tool_calls in one chunk',
      [chunk({ content: 'Look: ', tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":1}' } }] })],
      [{ kind: 'text', text: 'Look: ' }, callPart('a', 'f', '{"a":1}')],
    ],
    [
      'text after a call is a new block',
      [chunk({ content: 'One' }), call({ index: 0, id: 'a' }, 'f', '{"a":1}'), chunk({ content: 'Two' })],
      [{ kind: 'text', text: 'One' }, callPart('a', 'f', '{"a":1}'), { kind: 'text', text: 'Two' }],
    ],
    [
      'content as a list of parts',
      [
        chunk({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'Hi' },
          ],
        }),
      ],
      [
        { kind: 'reasoning', text: ['hm'], proof: shown },
        { kind: 'text', text: 'Hi' },
      ],
    ],
    ['a refusal', [chunk({ refusal: 'I' }), chunk({ refusal: ' will not' })], [{ kind: 'refusal', text: 'I will not' }]],
    ['<think> as ordinary text', [chunk({ content: '<think>a</think>b' })], [{ kind: 'text', text: '<think>a</think>b' }]],
    [
      'choices other than the first',
      [
        {
          choices: [
            { index: 0, delta: { content: 'one' } },
            { index: 1, delta: { content: 'two' } },
          ],
        },
      ],
      [{ kind: 'text', text: 'one' }],
    ],
    [
      'a choice without index, and the wholeReply message repeated beside its delta',
      [{ choices: [{ delta: { content: 'one' } }] }, { choices: [{ delta: { content: '!' }, message: { content: 'one!' } }] }],
      [{ kind: 'text', text: 'one!' }],
    ],
    [
      'a stream of one wholeReply reply',
      [{ choices: [{ message: { role: 'assistant', content: 'one' } }] }],
      [{ kind: 'text', text: 'one' }],
    ],
    ['malformed chunks', [{}, 7, null, [], { choices: null }, { choices: [null, 3] }, { choices: [{ delta: 'x' }] }], []],
    [
      'pictures',
      [chunk({ content: 'Here' }), chunk({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }] })],
      [
        { kind: 'text', text: 'Here' },
        { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'QUJD' } },
      ],
    ],
    [
      'speech with its transcript, complete at the end',
      [
        chunk({ audio: { id: 'x', transcript: 'Good ' } }),
        chunk({ audio: { transcript: 'day', data: 'UklG' } }),
        chunk({ audio: { data: 'Rg==' } }),
      ],
      [
        { kind: 'text', text: 'Good day' },
        { kind: 'media', media: 'audio', source: { kind: 'inline', mediaType: 'audio/wav', data: 'UklGRg==' } },
      ],
    ],
  ];
  for (const [name, chunks, expected] of cases) assert.deepEqual(partsOf([...chunks, stop]), expected, name);
});

test('reasoning is read once under any name', () => {
  const thoughts = [{ kind: 'reasoning', text: ['hm'], proof: shown }];
  for (const delta of [
    { reasoning_content: 'hm' },
    { reasoning: 'hm' },
    { thinking: 'hm' },
    { reasoning: 'hm', reasoning_content: 'hm' },
    { reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
    { reasoning_details: [{ type: 'reasoning.summary', summary: 'hm' }] },
    { reasoning_content: 'hm', reasoning: '', content: '' },
  ]) {
    assert.deepEqual(partsOf([chunk(delta), stop]), thoughts, JSON.stringify(delta));
  }
});

test('reasoning with separate proofs is in separate parts', () => {
  const parts = partsOf([
    chunk({ reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a', format: 'x-v1', index: 0 }] }),
    chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 's1', format: 'x-v1', index: 0 }] }),
    chunk({ reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', text: 'b', signature: 's2', index: 1 }] }),
    chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'e', index: 2 }] }),
    chunk({ content: 'Hi' }),
    stop,
  ]);
  assert.deepEqual(parts, [
    { kind: 'reasoning', text: ['a'], proof: { origin, blob: '{"type":"reasoning.text","signature":"s1","format":"x-v1","index":0}' } },
    { kind: 'reasoning', text: ['b'], proof: { origin, blob: '{"type":"reasoning.text","signature":"s2","index":1}' } },
    { kind: 'reasoning', text: [], proof: { origin, blob: '{"type":"reasoning.encrypted","data":"e","index":2}', hidden: true } },
    { kind: 'text', text: 'Hi' },
  ]);
});

test('the signature of a call is its proof (langgenius/dify#29187, anomalyco/opencode#4832)', () => {
  const signed = { index: 0, id: 'a', extra_content: { google: { thought_signature: 'sig' } } };
  assert.deepEqual(partsOf([call(signed, 'f', '{}'), stop]), [{ ...callPart('a', 'f', '{}'), proof: { origin, blob: 'sig' } }]);
});

test('the stop reason is read', () => {
  const withCall = call({ index: 0, id: 'a' }, 'f', '{}');
  const cases: readonly [chunks: readonly unknown[], stopReason: string][] = [
    [[chunk({ content: 'x' }), stop], 'end'],
    [[withCall, stop], 'tool-calls'],
    [[withCall, chunk({}, 'length')], 'output-limit'],
    [[chunk({ content: 'x' }), chunk({}, 'tool_calls')], 'end'],
    [[chunk({ content: 'x' }, 'stop'), chunk({ content: 'y' }, '')], 'end'],
    [[chunk({ content: 'x' }), chunk({}, '')], 'end'],
    [[chunk({ content: 'x' })], 'end'],
    [[withCall], 'tool-calls'],
    [[chunk({ refusal: 'no' }), stop], 'refusal'],
    [[chunk({ content: 'x' }), chunk({}, 'content_filter')], 'refusal'],
    [[chunk({ content: 'x' }), chunk({}, 'model_length')], 'context-limit'],
    [[chunk({ content: 'x' }), chunk({}, 'insufficient_system_resource')], 'failed'],
    [[chunk({ content: 'x' }), chunk({}, 'toString')], 'end'],
  ];
  for (const [chunks, stopReason] of cases) {
    const events = decodeChunks(chunks);
    assertEventGrammar(events);
    assert.equal(foldEvents(events).stopReason, stopReason, JSON.stringify(chunks));
  }
});

test('content after a finish reason in the first chunk stays one text', () => {
  assert.deepEqual(partsOf([chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }, 'stop')]), [{ kind: 'text', text: 'ab' }]);
});

test('the stop sequence is read from matched_stop of SGLang', () => {
  const chunk = (matched_stop: unknown) => [{ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop', matched_stop }] }];
  const last = (matched: unknown) => decodeChunks(chunk(matched)).at(-1);
  assert.deepEqual(last('END'), { type: 'finished', stopReason: 'stop-sequence', stopSequence: 'END' });
  assert.deepEqual(last(128_009), { type: 'finished', stopReason: 'end' });
});

test('the stop sequence is read from stop_reason of vLLM', () => {
  const { stopReason, stopSequence } = foldEvents(
    decodeChunks([{ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop', stop_reason: 'END' }] }]),
  );
  assert.deepEqual([stopReason, stopSequence], ['stop-sequence', 'END']);
});

test('usage is read at every position', () => {
  const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
  const cases: readonly [name: string, chunks: readonly unknown[]][] = [
    ['a chunk of its own', [chunk({ content: 'x' }), stop, { choices: [], usage }]],
    ['choices null', [chunk({ content: 'x' }), stop, { choices: null, usage }]],
    ['in the last chunk', [chunk({ content: 'x' }), { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage }]],
    ['in the choice', [chunk({ content: 'x' }), { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }]],
    ['x_groq', [chunk({ content: 'x' }), { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage } }]],
    [
      'in every chunk',
      [
        { choices: [{ delta: { content: 'x' } }], usage: { prompt_tokens: 7, completion_tokens: 1 } },
        { choices: [], usage },
        { usage: {} },
      ],
    ],
  ];
  for (const [name, chunks] of cases) {
    const events = decodeChunks(chunks);
    assertEventGrammar(events);
    assert.deepEqual(foldEvents(events).usageReport?.usage, { inputTokens: 7, outputTokens: 2 }, name);
  }
  assert.equal(foldEvents(decodeChunks([chunk({ content: 'x' }), stop])).usageReport, undefined);
});

test('citations belong to their text at every position', () => {
  const nested = { type: 'url_citation', url_citation: { start_index: 0, end_index: 2, url: 'https://a.example', title: 'A' } };
  const cited = { start: 0, end: 2, title: 'A', source: { kind: 'url', url: 'https://a.example' } };
  const cases: readonly [name: string, chunks: readonly unknown[], citations: readonly object[]][] = [
    ['after it', [chunk({ content: 'Hi🌊' }), chunk({ annotations: [nested] })], [cited]],
    ['before it', [chunk({ role: 'assistant', annotations: [nested] }), chunk({ content: 'Hi🌊' })], [cited]],
    ['flat', [chunk({ content: 'Hi🌊' }), chunk({ annotations: [{ type: 'url_citation', ...nested.url_citation }] })], [cited]],
    ['twice', [chunk({ content: 'Hi🌊', annotations: [nested] }), chunk({ annotations: [nested] })], [cited]],
    [
      'beyond the text',
      [
        chunk({
          content: 'Hi🌊',
          annotations: [{ type: 'url_citation', url_citation: { ...nested.url_citation, start_index: 9, end_index: 12 } }],
        }),
      ],
      [{ title: 'A', source: cited.source }],
    ],
    [
      'a list of addresses in every chunk',
      [
        { ...(chunk({ content: 'Hi' }) as object), citations: ['https://a.example'] },
        { ...(stop as object), citations: ['https://a.example'] },
      ],
      [{ source: cited.source }],
    ],
    [
      'addresses with titles',
      [
        {
          ...(chunk({ content: 'Hi' }) as object),
          citations: ['https://a.example'],
          search_results: [{ url: 'https://a.example', title: 'A' }],
        },
      ],
      [{ title: 'A', source: cited.source }],
    ],
    [
      'annotated and in a list',
      [{ ...(chunk({ content: 'Hi🌊', annotations: [nested] }) as object), citations: ['https://a.example'] }],
      [cited],
    ],
    ['of kinds without an address', [chunk({ content: 'Hi', annotations: [{ type: 'file', file: {} }, 3] }), chunk({}, 'stop')], []],
  ];
  for (const [name, chunks, citations] of cases) {
    const [text] = foldEvents(decodeChunks([...chunks, stop])).parts;
    assert.deepEqual(text?.kind === 'text' ? (text.citations ?? []) : undefined, citations, name);
  }
});

test('offsets count from the beginning of the block', () => {
  const citation = { type: 'url_citation', url_citation: { start_index: 4, end_index: 6, url: 'https://a.example', title: '' } };
  const parts = foldEvents(
    decodeChunks([
      chunk({ content: 'One🌊' }),
      call({ index: 0, id: 'a' }, 'f', '{}'),
      chunk({ content: 'Two', annotations: [citation] }),
      stop,
    ]),
  ).parts;
  assert.deepEqual(parts[2], {
    kind: 'text',
    text: 'Two',
    citations: [{ start: 0, end: 2, source: { kind: 'url', url: 'https://a.example' } }],
  });
});

test('a broken stream has no end', () => {
  const failures = [
    frameOf('{"error":{"message":"x"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}'),
    frameOf('{"message":"x"}', 'error'),
  ];
  for (const failure of failures) {
    const decoder = createEventDecoder(createReading());
    decoder.read(frameOf(JSON.stringify(chunk({ content: 'x' }))));
    assert.deepEqual([...decoder.read(failure), ...decoder.read(frameOf('[DONE]')), ...decoder.end()], []);
  }
  const cut = createEventDecoder(createReading());
  cut.read(frameOf(JSON.stringify(chunk({ content: 'x' }, 'stop'))));
  assert.deepEqual(cut.end(), []);
});

const fixtures = openFixtures(join(import.meta.dirname, '../fixtures'));

for (const name of fixtures.casesOf('.stream.sse')) {
  test(`fixture ${name} gives the same valid events for every chunk size, equal to the wholeReply reply`, () => {
    const body = fixtures.readBytes(`${name}.stream.sse`);
    const expected = fixtures.readJson(`${name}.expected.json`);
    const read = (chunkBytes: number): readonly InferenceEvent[] => {
      const decoder = createEventDecoder(createReading());
      return [...readFrames(body, 'sse', chunkBytes).flatMap((frame) => decoder.read(frame)), ...decoder.end()];
    };
    const events = read(body.length);
    assertEventGrammar(events);
    assert.equal(events.at(-1)?.type === 'finished', expected.state === 'complete');
    for (let chunkBytes = 1; chunkBytes < 40; chunkBytes++) assert.deepEqual(read(chunkBytes), events);
    assert.deepEqual(foldEvents(events).usageReport?.usage, expected.usage);
    if (!fixtures.files.includes(`${name}.reply.json`)) return;
    const streamed = foldEvents(events);
    const wholeReply = decodeReply(fixtures.readJson(`${name}.reply.json`), createReading());
    assert.deepEqual([streamed.parts, streamed.stopReason], [wholeReply.parts, wholeReply.stopReason]);
  });
}

test('any stream is read as valid events without an exception', () => {
  const piece = fc.record(
    {
      index: fc.constantFrom(0, 1, undefined),
      id: fc.constantFrom('', 'a', 'b', null),
      function: fc.record({ name: fc.constantFrom('', 'f', 'g'), arguments: fc.constantFrom('', '{}', '{"a"', ':1}', null, { a: 1 }) }),
      extra_content: fc.constantFrom({ google: { thought_signature: 's' } }, {}),
    },
    { requiredKeys: [] },
  );
  const delta = fc.record(
    {
      content: fc.constantFrom('', 'x', null, [{ type: 'text', text: 'y' }]),
      reasoning: fc.constantFrom('r', ''),
      refusal: fc.constantFrom('n', null),
      reasoning_details: fc.array(fc.record({ text: fc.constantFrom('t', ''), data: fc.constantFrom('d', '') }, { requiredKeys: [] }), {
        maxLength: 2,
      }),
      tool_calls: fc.array(piece, { maxLength: 3 }),
      function_call: fc.constantFrom({ name: 'f' }, { arguments: '{}' }, null),
      annotations: fc.constantFrom([{ type: 'url_citation', url: 'https://a.example', start_index: 1, end_index: 2 }], null),
    },
    { requiredKeys: [] },
  );
  const anything = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(delta, fc.constantFrom(null, 'stop', 'length')).map(([value, reason]) => chunk(value, reason)) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 12 }), (chunks) => {
      const events = decodeChunks(chunks);
      if (events.at(-1)?.type === 'finished') assertEventGrammar(events);
      const step = serializeBlocks();
      if (events.at(-1)?.type === 'finished')
        assertEventGrammar(
          events.flatMap((event) => step(event)),
          { overlaps: false },
        );
    }),
    { numRuns: 500 },
  );
});
