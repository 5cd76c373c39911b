import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { cutAtSequences } from './cut-at-sequences.ts';
import { foldEvents } from './fold-events.ts';
import type { EventStep, InferenceEvent } from './inference-event.ts';
import type { InferenceReply, ReplyPart } from './inference-reply.ts';
import { replayReply } from './replay-reply.ts';
import { restoreTools } from './restore-tools.ts';
import { serializeBlocks } from './serialize-blocks.ts';

const run = (step: EventStep, events: readonly InferenceEvent[]): readonly InferenceEvent[] => events.flatMap((event) => step(event));

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const record = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> => fc.record(shape, { noNullPrototype: true });
const proof = record({ origin: fc.constantFrom('one', 'two'), blob: text });
const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  record({ kind: fc.constant('text' as const), text }),
  record({ kind: fc.constant('refusal' as const), text }),
  record({ kind: fc.constant('reasoning' as const), text: fc.array(text, { maxLength: 3 }), proof, itemId: text }),
  record({ kind: fc.constant('tool-call' as const), id: text, name: text, arguments: text }),
  fc.record({
    kind: fc.constant('server-tool' as const),
    tool: fc.constant('other' as const),
    id: text,
    input: fc.array(text),
    wire: fc.constant([]),
  }),
);
const reply: fc.Arbitrary<InferenceReply> = record({
  replyId: text,
  servedModel: text,
  parts: fc.array(part, { maxLength: 6 }),
  stopReason: fc.constantFrom('end' as const, 'tool-calls' as const, 'output-limit' as const),
});

/** Interleaves the blocks of a stream, as a server does that writes several at once. */
function interleave(events: readonly InferenceEvent[], picks: readonly number[]): readonly InferenceEvent[] {
  const head = events.filter((event) => event.type === 'started');
  const tail = events.filter((event) => !('index' in event) && event.type !== 'started');
  const queues = [
    ...Map.groupBy(
      events.filter((event) => 'index' in event),
      (event) => event.index,
    ).values(),
  ];
  const dealt: InferenceEvent[] = [];
  let opened = 0;
  let turn = 0;
  while (queues.some((queue) => queue.length > 0)) {
    const candidates = queues.slice(0, opened + 1).filter((queue) => queue.length > 0);
    const queue = candidates[(picks[turn++ % picks.length] ?? 0) % candidates.length] ?? [];
    if (queue === queues[opened]) opened += 1;
    const event = queue.shift();
    if (event !== undefined) dealt.push(event);
  }
  return [...head, ...dealt, ...tail];
}

test('a reply that is replayed as a stream and folded again is the same reply', () => {
  fc.assert(fc.property(reply, (whole) => assert.deepEqual(foldEvents(replayReply(whole)), whole)));
});

test('overlapping blocks become consecutive ones, and no letter is lost', () => {
  fc.assert(
    fc.property(reply, fc.array(fc.nat(7), { minLength: 1 }), (whole, picks) => {
      const passed = run(serializeBlocks(), interleave(replayReply(whole), picks));
      let open: number | undefined;
      for (const event of passed) {
        if (!('index' in event)) continue;
        if (event.type === 'block-started' || event.type === 'part') assert.equal(open, undefined, 'a block begins while another is open');
        else assert.equal(event.index, open, 'an event of a block that is not open');
        if (event.type === 'block-started') open = event.index;
        if (event.type === 'block-ended') open = undefined;
      }
      assert.deepEqual(foldEvents(passed), whole);
    }),
  );
});

const say = (...texts: string[]): readonly InferenceEvent[] => [
  { type: 'block-started', index: 0, block: { kind: 'text' } },
  ...texts.map((piece): InferenceEvent => ({ type: 'delta', index: 0, text: piece })),
  { type: 'block-ended', index: 0 },
  { type: 'finished', stopReason: 'end' },
];

describe('stop sequences for upstreams that have none', () => {
  const cases: readonly (readonly [
    name: string,
    stops: readonly string[],
    pieces: readonly string[],
    left: string,
    hit: string | undefined,
  ])[] = [
    ['none in the text', ['END'], ['all is written'], 'all is written', undefined],
    ['in one piece', ['END'], ['one END two'], 'one ', 'END'],
    ['split over pieces', ['END'], ['one E', 'N', 'D two'], 'one ', 'END'],
    ['a beginning that comes to nothing', ['END'], ['one EN', 'TER'], 'one ENTER', undefined],
    ['a beginning at the very end', ['END'], ['one EN'], 'one EN', undefined],
    ['the earlier of two that end together', ['B', 'AB'], ['xAB'], 'x', 'AB'],
    ['the one that is complete first', ['AB', 'A'], ['xAB'], 'x', 'A'],
    ['an empty sequence watches for nothing', [''], ['all'], 'all', undefined],
    ['overlapping beginnings', ['aab'], ['aa', 'ab rest'], 'a', 'aab'],
  ];
  for (const [name, stops, pieces, left, hit] of cases) {
    test(name, () => {
      const { parts, stopReason, stopSequence } = foldEvents(run(cutAtSequences(stops), say(...pieces)));
      assert.deepEqual(parts, [{ kind: 'text', text: left }]);
      assert.deepEqual([stopReason, stopSequence], hit === undefined ? ['end', undefined] : ['stop-sequence', hit]);
    });
  }

  test('the cut does not depend on how the text is split into pieces', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 20 });
    fc.assert(
      fc.property(
        letters,
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 }), { maxLength: 3 }),
        (all, stops) => {
          const whole = foldEvents(run(cutAtSequences(stops), all === '' ? say() : say(all)));
          const pieces = foldEvents(run(cutAtSequences(stops), say(...all.split(''))));
          assert.deepEqual(pieces.parts, whole.parts);
        },
      ),
    );
  });

  test('arguments of calls and thoughts are not searched for sequences', () => {
    const events: readonly InferenceEvent[] = [
      { type: 'block-started', index: 0, block: { kind: 'tool-call', id: 'c', name: 'f' } },
      { type: 'delta', index: 0, text: '{"a":"END"}' },
      { type: 'block-ended', index: 0 },
      { type: 'finished', stopReason: 'tool-calls' },
    ];
    assert.deepEqual(run(cutAtSequences(['END']), events), events);
  });
});

describe('tools that were changed for the upstream', () => {
  const call = (name: string, index = 0): readonly InferenceEvent[] => [
    { type: 'block-started', index, block: { kind: 'tool-call', id: 'c', name } },
    { type: 'delta', index, text: '{"a":1}' },
    { type: 'block-ended', index },
  ];
  const finished: InferenceEvent = { type: 'finished', stopReason: 'tool-calls' };

  test('a renamed function gets its name back, others keep theirs', () => {
    const restored = foldEvents(
      run(restoreTools({ toolNames: new Map([['a_b', 'a/b']]) }), [...call('a_b'), ...call('other', 1), finished]),
    );
    assert.deepEqual(
      restored.parts.map((restoredPart) => restoredPart.kind === 'tool-call' && restoredPart.name),
      ['a/b', 'other'],
    );
    assert.equal(restored.stopReason, 'tool-calls');
  });

  test('the call of the answer tool becomes text, and text beside it is left out', () => {
    const beside: readonly InferenceEvent[] = [
      { type: 'block-started', index: 0, block: { kind: 'text' } },
      { type: 'delta', index: 0, text: 'Here is the JSON:' },
      { type: 'block-ended', index: 0 },
    ];
    const restored = foldEvents(run(restoreTools({ answerTool: 'answer' }), [...beside, ...call('answer', 1), finished]));
    assert.deepEqual([restored.parts, restored.stopReason], [[{ kind: 'text', text: '{"a":1}' }], 'end']);
  });

  test('a second answer is left out, because two consecutive objects are not JSON', () => {
    const restored = foldEvents(run(restoreTools({ answerTool: 'answer' }), [...call('answer', 0), ...call('answer', 1), finished]));
    assert.deepEqual([restored.parts, restored.stopReason], [[{ kind: 'text', text: '{"a":1}' }], 'end']);
  });
});
