import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertEventGrammar } from '../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { serializeBlocks } from '../../../inference/serialize-blocks.ts';
import { createEventDecoder } from './event-decoder.ts';
import { call, chunk, callPart, partsOf, stop } from './testing/fake-chunks.ts';
import { createReading, decodeChunks, frameOf } from './testing/test-kit.ts';

test('tool calls are assembled in every form that servers send', () => {
  const cases: readonly [name: string, chunks: readonly unknown[], expected: readonly object[]][] = [
    [
      'id and name first, arguments in deltas',
      [call({ index: 0, id: 'a' }, 'f', ''), call({ index: 0 }, undefined, '{"a"'), call({ index: 0 }, undefined, ':1}')],
      [callPart('a', 'f', '{"a":1}')],
    ],
    ['a complete call in one chunk', [call({ index: 0, id: 'a' }, 'f', '{"a":1}')], [callPart('a', 'f', '{"a":1}')]],
    ['empty id', [call({ index: 0, id: '' }, 'f', '{"a":1}')], [callPart('call_new1', 'f', '{"a":1}')]],
    ['null id and no index', [call({ id: null }, 'f', '{"a":1}')], [callPart('call_new1', 'f', '{"a":1}')]],
    ['arguments as an object', [call({ index: 0, id: 'a' }, 'f', { a: 1 })], [callPart('a', 'f', '{"a":1}')]],
    ['arguments null', [call({ index: 0, id: 'a' }, 'f', null)], [callPart('a', 'f', '')]],
    ['arguments absent', [call({ index: 0, id: 'a' }, 'f')], [callPart('a', 'f', '')]],
    [
      'an empty object that opens the call, and the real arguments after it',
      [call({ index: 0, id: 'a' }, 'f', '{}'), call({ index: 0 }, undefined, '{"a":1}')],
      [callPart('a', 'f', '{"a":1}')],
    ],
    [
      'braces within a text of the arguments, each in its own delta',
      [call({ index: 0, id: 'a' }, 'f', '{"a":"'), call({ index: 0 }, undefined, '{}'), call({ index: 0 }, undefined, '{}"}')],
      [callPart('a', 'f', '{"a":"{}{}"}')],
    ],
    [
      'arguments that are not JSON',
      [call({ index: 0, id: 'a' }, 'f', '}'), call({ index: 0 }, undefined, '{a')],
      [callPart('a', 'f', '}{a')],
    ],
    ['arguments that are an empty object', [call({ index: 0, id: 'a' }, 'f', '{}')], [callPart('a', 'f', '{}')]],
    [
      'id and name in every chunk',
      [call({ index: 0, id: 'a' }, 'f', '{"a"'), call({ index: 0, id: 'a' }, 'f', ':{'), call({ index: 0, id: 'a' }, 'f', '}}')],
      [callPart('a', 'f', '{"a":{}}')],
    ],
    [
      'the complete call again at the end',
      [call({ index: 0, id: 'a' }, 'f', '{"a"'), call({ index: 0 }, undefined, ':1}'), call({ index: 0, id: 'a' }, 'f', '{"a":1}')],
      [callPart('a', 'f', '{"a":1}')],
    ],
    [
      'name in deltas',
      [call({ index: 0, id: 'a' }, 'get_'), call({ index: 0 }, 'level', ''), call({ index: 0 }, undefined, '{"a":1}')],
      [callPart('a', 'get_level', '{"a":1}')],
    ],
    [
      'name so far in every chunk',
      [call({ index: 0, id: 'a' }, 'get_'), call({ index: 0 }, 'get_level', '{"a":1}')],
      [callPart('a', 'get_level', '{"a":1}')],
    ],
    [
      'id in deltas',
      [call({ index: 0, id: 'call_' }), call({ index: 0, id: 'x1' }), call({ index: 0 }, 'f', '{"a":1}')],
      [callPart('call_x1', 'f', '{"a":1}')],
    ],
    [
      'id and name after the arguments',
      [call({ index: 0 }, undefined, '{"a"'), call({ index: 0, id: 'a' }, 'f', ':1}')],
      [callPart('a', 'f', '{"a":1}')],
    ],
    [
      'id too late',
      [call({ index: 0 }, 'f', '{"a"'), call({ index: 0, id: 'a' }, undefined, ':1}')],
      [callPart('call_new1', 'f', '{"a":1}')],
    ],
    ['no name at all', [call({ index: 0, id: 'a' }, undefined, '{"a":1}')], [callPart('a', 'unknown', '{"a":1}')]],
    [
      'index always 0 with a new id (vercel/ai, Google’s compatible interface)',
      [call({ index: 0, id: 'a' }, 'f', '{"a":1}'), call({ index: 0, id: 'b' }, 'f', '{"b":1}')],
      [callPart('a', 'f', '{"a":1}'), callPart('b', 'f', '{"b":1}')],
    ],
    [
      'index always 0 and no ids (older Ollama)',
      [call({ index: 0 }, 'f', '{"a":1}'), call({ index: 0 }, 'f', '{"b":1}'), call({ index: 0 }, 'g', '{}')],
      [callPart('call_new1', 'f', '{"a":1}'), callPart('call_new2', 'f', '{"b":1}'), callPart('call_new3', 'g', '{}')],
    ],
    [
      'no index, new ids',
      [call({ id: 'a' }, 'f', '{"a":1}'), call({ id: 'b' }, 'f', '{"b"'), call({}, undefined, ':1}')],
      [callPart('a', 'f', '{"a":1}'), callPart('b', 'f', '{"b":1}')],
    ],
    [
      'no index, the id in every chunk',
      [
        call({ id: 'a' }, 'f', '{"a"'),
        call({ id: 'b' }, 'g', '{"b"'),
        call({ id: 'a' }, undefined, ':1}'),
        call({ id: 'b' }, undefined, ':2}'),
      ],
      [callPart('a', 'f', '{"a":1}'), callPart('b', 'g', '{"b":2}')],
    ],
    [
      'several calls in one chunk, no index and no ids',
      [
        chunk({
          tool_calls: [
            { function: { name: 'f', arguments: null } },
            { function: { name: 'f', arguments: '{"a":1}' } },
            { function: { name: 'g', arguments: {} } },
          ],
        }),
      ],
      [callPart('call_new1', 'f', ''), callPart('call_new2', 'f', '{"a":1}'), callPart('call_new3', 'g', '{}')],
    ],
    [
      'two calls with one id',
      [call({ index: 0, id: 'call_f' }, 'f', '{"a":1}'), call({ index: 1, id: 'call_f' }, 'f', '{"b":1}')],
      [callPart('call_f', 'f', '{"a":1}'), callPart('call_new1', 'f', '{"b":1}')],
    ],
    [
      'interleaved by index (sgl-project/sglang#39782, langgenius/dify-official-plugins#2668)',
      [
        call({ index: 0, id: 'a' }, 'f', '{"a"'),
        call({ index: 1, id: 'b' }, 'g', '{"b"'),
        call({ index: 0 }, undefined, ':1}'),
        call({ index: 1 }, undefined, ':2}'),
      ],
      [callPart('a', 'f', '{"a":1}'), callPart('b', 'g', '{"b":2}')],
    ],
    [
      'the older function_call',
      [chunk({ function_call: { name: 'f', arguments: '' } }), chunk({ function_call: { arguments: '{"a":1}' } })],
      [callPart('call_new1', 'f', '{"a":1}')],
    ],
    [
      'an empty list, null and an entry with nothing in it',
      [chunk({ tool_calls: [] }), chunk({ tool_calls: null }), call({ index: 0 })],
      [],
    ],
  ];
  for (const [name, chunks, expected] of cases) assert.deepEqual(partsOf([...chunks, stop]), expected, name);
});

test('serialised, interleaved calls have separate arguments (BerriAI/litellm#15315)', () => {
  const events = decodeChunks([
    call({ index: 0, id: 'a' }, 'f', '{"a"'),
    call({ index: 1, id: 'b' }, 'g', '{"b"'),
    call({ index: 0 }, undefined, ':1}'),
    call({ index: 1 }, undefined, ':2}'),
    stop,
  ]);
  const step = serializeBlocks();
  const inLine = events.flatMap((event) => step(event));
  assertEventGrammar(inLine, { overlaps: false });
  assert.deepEqual(foldEvents(inLine).parts, [callPart('a', 'f', '{"a":1}'), callPart('b', 'g', '{"b":2}')]);
});

test('a complete call ends when the next begins, so that the next is not delayed until the end', () => {
  const types = decodeChunks([call({ index: 0, id: 'a' }, 'f', '{"a":1}'), call({ index: 1, id: 'b' }, 'f', '{"a":1}'), stop]).map(
    (event) => `${event.type} ${'index' in event ? event.index : ''}`,
  );
  assert.ok(types.indexOf('block-ended 0') < types.indexOf('block-started 1'));
});

test('arguments are passed on as they arrive', () => {
  const decoder = createEventDecoder(createReading());
  const read = (value: unknown): readonly InferenceEvent[] => decoder.read(frameOf(JSON.stringify(value)));
  read(call({ index: 0, id: 'a' }, 'f', '{"a"'));
  assert.deepEqual(read(call({ index: 0 }, undefined, ':1')), [{ type: 'delta', index: 0, text: ':1' }]);
});
