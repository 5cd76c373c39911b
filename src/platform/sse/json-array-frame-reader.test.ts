import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameTooLargeError } from '../frames.ts';
import type { Frame } from '../frames.ts';
import { createJsonArrayFrameReader } from './json-array-frame-reader.ts';

function read(text: string | Buffer, chunkBytes = Infinity, frameBytesMax = 1_000_000): { frames: Frame[]; rest: string; closed: boolean } {
  const bytes = Buffer.from(text);
  const reader = createJsonArrayFrameReader({ frameBytesMax });
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) frames.push(...reader.push(bytes.subarray(start, start + chunkBytes)));
  assert.ok(Buffer.concat([...frames.map((frame) => frame.bytes), reader.rest()]).equals(bytes));
  return { frames, rest: reader.rest().toString(), closed: reader.closed() };
}

function elements(text: string | Buffer, chunkBytes?: number): string[] {
  return read(text, chunkBytes).frames.flatMap(({ data }) => (data === '' ? [] : [data]));
}

const parts = ['{"text":"}],\\"[{ é😀 \\\\"}', '{"a":[{"b":[]},{}],"c":"\\\\\\""}', '[[],{"x":"]"}]', '"s,]\\""', '-1.5', 'null', '{}'];

test('each element is returned when it is complete, with any content and any chunks', () => {
  const bytes = Buffer.from(`[${parts.join(',\r\n')}\n]\r\n`);
  for (let chunkBytes = 1; chunkBytes <= bytes.length; chunkBytes++) {
    assert.deepEqual(elements(bytes, chunkBytes), parts, `chunks of ${chunkBytes}`);
    const { rest, closed } = read(bytes, chunkBytes);
    assert.deepEqual([rest, closed], ['', true]);
  }
});

test('separators belong to the element after them, and the closing bracket is its own frame', () => {
  const { frames } = read('[{"a":1}\n,\r\n{"a":2}\n]\n');
  assert.deepEqual(
    frames.map(({ bytes, data }) => [bytes.toString(), data]),
    [
      ['[{"a":1}', '{"a":1}'],
      ['\n,\r\n{"a":2}', '{"a":2}'],
      ['\n]', ''],
      ['\n', ''],
    ],
  );
});

test('an element is returned with its last byte, before any separator', () => {
  const reader = createJsonArrayFrameReader({ frameBytesMax: 100 });
  assert.equal(reader.push(Buffer.from('[{"a":{}}'))[0]?.data, '{"a":{}}');
  assert.equal(reader.closed(), false);
  assert.equal(reader.push(Buffer.from(',{"b"')).length, 0);
  assert.equal(reader.rest().toString(), ',{"b"');
  assert.equal(reader.push(Buffer.from(':1}]')).length, 2);
  assert.equal(reader.closed(), true);
});

test('an empty array is its closing bracket', () => {
  assert.deepEqual(
    read('[ ]').frames.map(({ bytes, data }) => [bytes.toString(), data]),
    [['[ ]', '']],
  );
  assert.equal(read('[]', 1).closed, true);
});

test('a body that is not an array is one frame and never closes', () => {
  const error = '{\n "error": {"message": "no [ quota }", "details": [1]}\n}';
  for (const chunkBytes of [1, 5, Infinity]) {
    assert.deepEqual(elements(`\ufeff ${error}\n`, chunkBytes), [error]);
    assert.deepEqual([read(`${error}\n`, chunkBytes).rest, read(error, chunkBytes).closed], ['', false]);
  }
});

test('a truncated body leaves a rest and does not close', () => {
  for (const [text, rest] of [
    ['[{"a":1},{"b', ',{"b'],
    ['[', '['],
    ['[1', '[1'],
    ['[{},', ','],
    ['plain text', ' text'],
  ] as const) {
    const { closed, rest: left } = read(text);
    assert.deepEqual([left, closed], [rest, false], text);
  }
});

test('text after the closing bracket is not a frame', () => {
  const { frames, rest, closed } = read('[1] \nsurplus');
  assert.deepEqual([frames.length, rest, closed], [2, ' \nsurplus', true]);
});

test('an element beyond the limit is refused in one chunk and in many, and exactly the limit is accepted', () => {
  const text = `["${'x'.repeat(97)}","${'y'.repeat(97)}"]`;
  for (const chunkBytes of [1, 9, 100, Infinity]) {
    assert.equal(read(text, chunkBytes, 100).frames.length, 3);
    assert.throws(() => read(text, chunkBytes, 99), FrameTooLargeError);
  }
});

test('any array in any chunks gives its elements', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 })),
      fc.constantFrom(0, 1, 2),
      fc.integer({ min: 1, max: 40 }),
      (values, indent, chunkBytes) => {
        const found = elements(JSON.stringify(values, undefined, indent), chunkBytes).map((data): unknown => JSON.parse(data));
        assert.deepEqual(found, JSON.parse(JSON.stringify(values)));
      },
    ),
    { numRuns: 500 },
  );
});

test('reading any bytes ends, and no byte is lost', () => {
  const piece = fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ' ', 'x', '1', '\ufeff');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 1, max: 5 }), (pieces, chunkBytes) => {
      read(pieces.join(''), chunkBytes);
    }),
    { numRuns: 1000 },
  );
});
