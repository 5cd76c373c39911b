import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';

import { JobError } from '../isolation/isolated-job.ts';
import { countFlacFrames } from './count-flac-frames.ts';
import { createMediaMeter } from './media-meter.ts';
import type { ReadableFile } from './readable-file.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`./fixtures/${name}.flac`, import.meta.url));
const fileOf = (bytes: Buffer): ReadableFile => ({ bytes: bytes.length, readAt: async (start, end) => bytes.subarray(start, end) });
const count = async (bytes: Buffer): Promise<number | undefined> => await countFlacFrames(fileOf(bytes));

const small = fixture('sine-8khz-576');
const stereo = fixture('sine-48khz-24bit-stereo');
const streamed = fixture('sine-8khz-streamed');

/** Sets the 36 bits that declare the number of samples. */
function sayLength(bytes: Buffer, samples: number): Buffer {
  const said = Buffer.from(bytes);
  said.writeUInt8(said.readUInt8(21) & 0xf0, 21);
  said.writeUInt32BE(samples, 22);
  return said;
}

const firstFrame = small.indexOf('\u00ff\u00f8', 42, 'latin1');
const notLast = Buffer.from(small.subarray(0, firstFrame));
notLast.writeUInt8(4, 42);
/** With padding for tags before its frames, as the reference encoder writes by default. */
const padded = Buffer.concat([notLast, Buffer.from([0x81, 0, 0x20, 0]), Buffer.alloc(8192), small.subarray(firstFrame)]);

const tagged = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from('ID3\u0004\0\0', 'latin1'), Buffer.from([0, 0, 1, 0]), Buffer.alloc(128), bytes]);

describe('the length of FLAC recordings by their frames', () => {
  for (const [name, bytes, seconds] of [
    ['frames of 576 samples', small, 1.25],
    ['24 bits in two channels', stereo, 0.05],
    ['a stream whose head does not say its length', streamed, 1.25],
    ['a head that says less: what is there counts', sayLength(small, 8), 1.25],
    ['a head that says more: what is there counts', sayLength(small, 0xffffffff), 1.25],
    ['a tag before it', tagged(small), 1.25],
    ['room for tags in it', padded, 1.25],
    ['a truncated last frame, which counts as whole', small.subarray(0, -100), 1.25],
    ['something behind it', Buffer.concat([small, Buffer.alloc(300, 1)]), 1.25],
  ] as const)
    test(name, async () => assert.equal(await count(bytes), seconds));

  for (const [name, bytes] of [
    ['nothing', Buffer.alloc(0)],
    ['something else', Buffer.alloc(100_000, 'text')],
    ['metadata alone', small.subarray(0, 60)],
    ['an upload that was truncated in the metadata', padded.subarray(0, 3000)],
    ['metadata that is longer than the file', Buffer.concat([small.subarray(0, 42), Buffer.from([0x84, 0xff, 0xff, 0xff]), small])],
    ['a rate of zero', Buffer.concat([small.subarray(0, 18), Buffer.alloc(3), small.subarray(21)])],
    ['a megabyte of noise between the frames', Buffer.concat([small.subarray(0, 4000), Buffer.alloc(1_000_000, 7), small])],
  ] as const)
    test(`${name}: not known`, async () => assert.equal(await count(bytes), undefined));

  test('a file that is truncated later is never shorter, and never longer than the whole file', async () => {
    for (const bytes of [small, stereo, streamed]) {
      const whole = (await count(bytes)) ?? 0;
      let before = 0;
      for (let length = 0; length <= bytes.length; length += 1) {
        const seconds = (await count(bytes.subarray(0, length))) ?? 0;
        assert.ok(seconds >= before && seconds <= whole, `${length} bytes: ${seconds} after ${before}`);
        before = seconds;
      }
      assert.equal(before, whole);
    }
  });

  test('a header at the edge of a window loses no frame', async () => {
    const frames = Array.from({ length: 8 }, () => small.subarray(firstFrame));
    const long = Buffer.concat([small.subarray(0, firstFrame), ...frames]);
    const expected = await count(long);
    assert.ok((expected ?? 0) > 9.9, String(expected));
    for (let shift = 0; shift < 40; shift += 1) {
      // A tag shifts everything after it.
      const tag = Buffer.concat([
        Buffer.from('ID3\u0004\0\0', 'latin1'),
        Buffer.from([0, 15, 0x40, shift]),
        Buffer.alloc(15 * 16_384 + 8192 + shift),
      ]);
      assert.equal(await count(Buffer.concat([tag, long])), expected);
    }
  });
});

describe('a file that makes its reader loop', () => {
  const meter = createMediaMeter({ soundMsMax: 400 });
  after(() => meter.close());

  test('delays only its own measurement: the event loop runs, and the next file is measured', async () => {
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 5);
    const options = { tenant: 'user', signal: AbortSignal.timeout(30_000) };
    // The demuxer, which reads all other formats, measures it.
    const looping = meter.measureSound(fileOf(padded.subarray(0, 3000)), 'other', options);
    await assert
      .rejects(looping, (error: unknown) => error instanceof JobError && error.failure === 'too-long')
      .finally(() => clearInterval(turning));
    assert.ok(turns > 10, `the loop turned ${turns} times`);
    assert.equal(await meter.measureSound(fileOf(small), 'flac', options), 1.25);
  });
});
