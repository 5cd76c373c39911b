import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameTooLargeError } from '../frames.ts';
import type { Frame } from '../frames.ts';
import { encodeSse } from './encode-sse.ts';
import { createSseFrameReader } from './sse-frame-reader.ts';
import { threadMs } from '../thread-ms.ts';

function read(text: string | Buffer, chunkBytes = Infinity, frameBytesMax = 1_000_000): { frames: Frame[]; rest: Buffer } {
  const bytes = Buffer.from(text);
  const reader = createSseFrameReader({ frameBytesMax });
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) frames.push(...reader.push(bytes.subarray(start, start + chunkBytes)));
  return { frames, rest: reader.rest() };
}

function payloads(text: string | Buffer, chunkBytes?: number): (string | [string, string])[] {
  const { frames } = read(text, chunkBytes);
  return frames
    .filter(({ data, event }) => data !== '' || event !== undefined)
    .map(({ data, event }) => (event === undefined ? data : [event, data]));
}

const stream = [
  '\ufeff: hello\n\n',
  'event: message_start\ndata: {"text":"é😀"}\n\n',
  'data:no space\r\n\r\n',
  'data:  two spaces\r\r',
  'id: 7\nretry: 10\ndata: a\ndata:\ndata: b\nevent: first\nevent: last\n\n',
  '\n\r\n\r',
  'data\n\n',
  ': ping\r\n\r\n',
  'dataset: x\nData: y\n data: z\nevents: w\n\n',
  'event:\ndata: [DONE]\n\n',
].join('');
const wanted = [['message_start', '{"text":"é😀"}'], 'no space', ' two spaces', ['last', 'a\n\nb'], '[DONE]'];

test('events are read by the rules of the format', () => {
  assert.deepEqual(payloads(stream), wanted);
});

test('any chunk size gives the same events and loses no byte, also with a CR at a chunk end or a split character', () => {
  const bytes = Buffer.from(stream);
  for (let chunkBytes = 1; chunkBytes <= bytes.length; chunkBytes++) {
    assert.deepEqual(payloads(bytes, chunkBytes), wanted, `chunks of ${chunkBytes}`);
    const { frames, rest } = read(bytes, chunkBytes);
    assert.ok(Buffer.concat([...frames.map((frame) => frame.bytes), rest]).equals(bytes));
  }
});

test('any bytes in any chunks give the same events, and no byte is lost', () => {
  const piece = fc.constantFrom('\n', '\r', '\r\n', 'data: x', 'data:é', 'event: e', ':', 'x', '\ufeff', 'data');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), fc.array(fc.nat(6), { minLength: 1, maxLength: 30 }), (pieces, sizes) => {
      const bytes = Buffer.from(pieces.join(''));
      const reader = createSseFrameReader({ frameBytesMax: 10_000 });
      const frames: Frame[] = [];
      let start = 0;
      for (const size of sizes) {
        frames.push(...reader.push(bytes.subarray(start, start + size)));
        start += size;
      }
      frames.push(...reader.push(bytes.subarray(start)));
      assert.ok(Buffer.concat([...frames.map((frame) => frame.bytes), reader.rest()]).equals(bytes));
      const known = frames.filter(({ data }) => data !== '').map(({ data, event }) => (event === undefined ? data : [event, data]));
      const whole = payloads(bytes).filter((payload) => typeof payload === 'string' || payload[1] !== '');
      // A frame that ends with a single CR at the end of the input may wait for an LF, in one of the two readings.
      assert.ok(Math.abs(known.length - whole.length) <= 1);
      const common = Math.min(known.length, whole.length);
      assert.deepEqual(known.slice(0, common), whole.slice(0, common));
    }),
    { numRuns: 1000 },
  );
});

test('an event is returned with its last byte, also when lines end with CR', () => {
  for (const text of ['data: x\n\n', 'data: x\r\r', 'data: x\r\n\r\n', 'data: x\n\r']) {
    assert.equal(read(text).frames.length, 1, JSON.stringify(text));
    assert.equal(read(text, 1).frames.length, 1, JSON.stringify(text));
    assert.equal(read(text).rest.length, 0);
  }
});

test('CRLF split in the middle keeps its LF in the same frame', () => {
  const reader = createSseFrameReader({ frameBytesMax: 100 });
  assert.equal(reader.push(Buffer.from('data: x\r\n\r')).length, 0);
  assert.equal(reader.rest().toString(), 'data: x\r\n\r');
  const [frame, next] = reader.push(Buffer.from('\ndata: y\r\n\r\n'));
  assert.equal(frame?.bytes.toString(), 'data: x\r\n\r\n');
  assert.equal(next?.bytes.toString(), 'data: y\r\n\r\n');
});

test('an unfinished event is the rest', () => {
  const { frames, rest } = read('data: a\n\nevent: b\ndata: cut', 4);
  assert.equal(frames.length, 1);
  assert.equal(rest.toString(), 'event: b\ndata: cut');
});

test('bytes that are not UTF-8 pass unchanged while data shows a replacement', () => {
  const bytes = Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff]), Buffer.from('b\n\n')]);
  const [frame] = read(bytes).frames;
  assert.equal(frame?.data, 'a\ufffdb');
  assert.ok(frame.bytes.equals(bytes));
});

test('a whole event in one chunk is not copied', () => {
  const chunk = Buffer.from('data: a\n\ndata: b\n\n');
  const frames = createSseFrameReader({ frameBytesMax: 100 }).push(chunk);
  assert.deepEqual(
    frames.map((frame) => frame.bytes.buffer === chunk.buffer),
    [true, true],
  );
});

test('an event in two chunks is not changed by the events after it', () => {
  const reader = createSseFrameReader({ frameBytesMax: 100 });
  reader.push(Buffer.from('data: first'));
  const [first] = reader.push(Buffer.from('\n\ndata: sec'));
  reader.push(Buffer.from('ond\n\n'));
  assert.equal(first?.bytes.toString(), 'data: first\n\n');
});

test('an event beyond the limit is refused in one chunk and in many, and exactly the limit is accepted', () => {
  const event = `data: ${'x'.repeat(92)}\n\n`;
  for (const chunkBytes of [1, 7, 99, 100, Infinity]) {
    assert.equal(read(`${event}${event}`, chunkBytes, 100).frames.length, 2);
    assert.throws(() => read(`${event}${event}`, chunkBytes, 99), FrameTooLargeError);
    assert.throws(() => read('x'.repeat(101), chunkBytes, 100), FrameTooLargeError);
  }
});

test('a large event in many small chunks costs linear time', () => {
  const bytes = Buffer.from(`data: ${'x'.repeat(2_000_000)}\n\n`);
  const startedAt = threadMs();
  assert.equal(read(bytes, 50, 4_000_000).frames[0]?.data.length, 2_000_000);
  assert.ok(threadMs() - startedAt < 1000);
});

test('encoded events can be read again', () => {
  for (const newline of ['\n', '\r\n'] as const) {
    const bytes = Buffer.concat([
      encodeSse({ event: 'e', data: '{"a":"é"}', newline }),
      encodeSse({ data: 'one\ntwo\r\nthree\r', newline }),
    ]);
    assert.deepEqual(payloads(bytes), [['e', '{"a":"é"}'], 'one\ntwo\nthree\n']);
  }
  assert.equal(encodeSse({ event: 'ping', data: '{}' }).toString(), 'event: ping\ndata: {}\n\n');
  assert.equal(encodeSse({ data: 'a\nb', newline: '\r\n' }).toString(), 'data: a\r\ndata: b\r\n\r\n');
});

test('an event name cannot add another field', () => {
  assert.throws(() => encodeSse({ event: 'a\ndata: forged', data: '' }), RangeError);
});
