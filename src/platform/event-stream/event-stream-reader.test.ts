import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { EventStreamCodec } from '@smithy/eventstream-codec';

import { DamagedFrameError, type Frame, FrameTooLargeError } from '../frames.ts';
import { seededRandom } from '../seeded-random.ts';
import { createEventStreamReader } from './event-stream-reader.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text),
);

const limits = { frameBytesMax: 16 * 1024 * 1024 };

/** An event `chunk`, written by the usual codec. */
const vector = Buffer.from(
  '000000920000004b2fea33010b3a6576656e742d747970650700056368756e6b0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b226279746573223a2265794a306558426c496a6f696257567a6332466e5a56397a6447467964434a39222c2270223a2261626364227d3a5c819c',
  'hex',
);

/** A message with headers of any type and any payload, as the usual codec writes it, and the frame that it is. */
function makeMessage(random: () => number): { readonly bytes: Buffer; readonly event: string; readonly data: string } {
  const below = (count: number): number => Math.floor(random() * count);
  const text = (length: number): string => Array.from({ length }, () => String.fromCodePoint(0x20 + below(0x2ff))).join('');
  const event = `e${text(below(20))}`;
  const data = text(below(400));
  const others = [
    { type: 'boolean', value: true },
    { type: 'byte', value: -3 },
    { type: 'short', value: 300 },
    { type: 'integer', value: 70_000 },
    { type: 'binary', value: new Uint8Array([1, 2, 3]) },
    { type: 'timestamp', value: new Date(1_800_000_000_000) },
    { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
  ] as const;
  const extra = Object.fromEntries(others.filter(() => random() < 0.2).map((header, index) => [`x${index}`, header]));
  const headers = {
    ...extra,
    ':event-type': { type: 'string' as const, value: event },
    ':message-type': { type: 'string' as const, value: 'event' },
  };
  return { bytes: Buffer.from(codec.encode({ headers, body: Buffer.from(data) })), event, data };
}

const contentOf = ({ event, data }: Pick<Frame, 'event' | 'data'>) => ({ event, data });

describe('a binary event stream', () => {
  test('the published frame is read at every cut, and its bytes are those that came', () => {
    for (let cut = 0; cut <= vector.length; cut += 1) {
      const reader = createEventStreamReader(limits);
      const frames = [...reader.push(vector.subarray(0, cut)), ...reader.push(vector.subarray(cut))];
      assert.deepEqual(frames.map(contentOf), [{ event: 'chunk', data: '{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCJ9","p":"abcd"}' }]);
      assert.deepEqual(frames[0]?.bytes, vector);
      assert.equal(reader.rest().length, 0);
    }
  });

  test('10,000 messages of the usual codec are read the same, cut anywhere', () => {
    const random = seededRandom(20261127);
    const messages = Array.from({ length: 10_000 }, () => makeMessage(random));
    const reader = createEventStreamReader(limits);
    const all = Buffer.concat(messages.map(({ bytes }) => bytes));
    const read: Frame[] = [];
    for (let at = 0; at < all.length;) {
      const end = Math.min(all.length, at + 1 + Math.floor(random() * 2000));
      read.push(...reader.push(all.subarray(at, end)));
      at = end;
    }
    assert.equal(reader.rest().length, 0);
    assert.deepEqual(read.map(contentOf), messages.map(contentOf));
  });

  test('a wrong bit anywhere in a message is noticed, or leaves it incomplete', () => {
    for (let place = 0; place < vector.length; place += 1) {
      const damaged = Buffer.from(vector);
      damaged[place] = (damaged[place] ?? 0) ^ 0x10;
      assert.throws(() => createEventStreamReader(limits).push(damaged), DamagedFrameError, `byte ${place}`);
    }
  });

  test('exceptions and errors are named, with the words that they have', () => {
    const string = (value: string) => ({ type: 'string' as const, value });
    const write = (headers: Parameters<typeof codec.encode>[0]['headers'], body: string): Buffer =>
      Buffer.from(codec.encode({ headers, body: Buffer.from(body) }));
    const exception = write(
      { ':message-type': string('exception'), ':exception-type': string('throttlingException') },
      '{"message":"slow"}',
    );
    const error = write({ ':message-type': string('error'), ':error-code': string('500'), ':error-message': string('broken') }, '');
    assert.deepEqual(
      createEventStreamReader(limits)
        .push(Buffer.concat([exception, error]))
        .map(contentOf),
      [
        { event: 'exception:throttlingException', data: '{"message":"slow"}' },
        { event: 'error:500', data: '{"message":"broken"}' },
      ],
    );
  });

  test('a message beyond the limit is refused by its first bytes', () => {
    assert.throws(() => createEventStreamReader({ frameBytesMax: 145 }).push(vector.subarray(0, 12)), FrameTooLargeError);
  });
});
