import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { countMpegFrames } from './count-mpeg-frames.ts';
import { threadMs } from '../thread-ms.ts';
import { createMediaMeter } from './media-meter.ts';
import type { ReadableFile } from './readable-file.ts';

const fileOf = (bytes: Buffer): ReadableFile => ({ bytes: bytes.length, readAt: async (start, end) => bytes.subarray(start, end) });

function frameOf(head: number, bytes: number, content = ''): Buffer {
  const frame = Buffer.alloc(bytes);
  frame.writeUInt32BE(head, 0);
  if (content !== '') frame.write(content, 36, 'latin1');
  return frame;
}

/** Layer 3: 128 kbit/s at 44.1 kHz, 32 kbit/s at 48 kHz, and the smallest there is, 8 kbit/s at 24 kHz. */
const usual = frameOf(0xfffb9000, 417);
const low = frameOf(0xfffb1400, 96);
const tiny = frameOf(0xfff31400, 24);
const repeat = (frame: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => frame));
const tag = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from('ID3\u0004\0\0', 'latin1'), Buffer.from([0, 0, bytes >> 7, bytes & 0x7f]), Buffer.alloc(bytes, 0xff)]);

describe('the length of recordings by their frames', () => {
  const count = async (bytes: Buffer): Promise<number | undefined> => {
    const seconds = await countMpegFrames(fileOf(bytes));
    return seconds === undefined ? undefined : Math.round(seconds * 1000);
  };

  for (const [name, bytes, milliseconds] of [
    ['usual frames', repeat(usual, 1000), 26_122],
    ['frames beyond one window and in a file', repeat(usual, 20_000), 522_449],
    ['frames at a low rate', repeat(low, 1000), 24_000],
    ['a tag before them, however like frames it is', Buffer.concat([tag(3000), repeat(usual, 100)]), 2612],
    ['a tag behind them', Buffer.concat([repeat(usual, 100), Buffer.from('TAG'), Buffer.alloc(125)]), 2612],
    ['a table in the first, which does not count', Buffer.concat([frameOf(0xfffb9000, 417, 'Xing'), repeat(usual, 100)]), 2612],
    ['a last frame that was cut off', repeat(usual, 100).subarray(0, -200), 2612],
    ['zeros before them', Buffer.concat([Buffer.alloc(1000), repeat(usual, 100)]), 2612],
  ] as const)
    test(name, async () => assert.equal(await count(bytes), milliseconds));

  for (const [name, bytes] of [
    ['nothing', Buffer.alloc(0)],
    ['something else', Buffer.alloc(100_000, 'text')],
    ['hardly any frame', Buffer.concat([usual, Buffer.alloc(100_000)])],
    ['a tag that is longer than the file', tag(500).subarray(0, 300)],
    ['frames of no rate that is known', repeat(frameOf(0xfffbf000, 417), 100)],
  ] as const)
    test(`${name}: not known`, async () => assert.equal(await count(bytes), undefined));

  test('a million tiny frames delay no other work, and are charged', async () => {
    const meter = createMediaMeter();
    after(() => meter.close());
    const recording = fileOf(repeat(tiny, 1_000_000));
    const measure = async () => {
      let longestMs = 0;
      let lastMs = threadMs();
      const watch = setInterval(() => {
        const nowMs = threadMs();
        longestMs = Math.max(longestMs, nowMs - lastMs);
        lastMs = nowMs;
      }, 5);
      const signal = AbortSignal.timeout(30_000);
      const seconds = await meter.measureSound(recording, 'mp3', { tenant: 'user', signal });
      clearInterval(watch);
      return { seconds, longestMs };
    };
    // A garbage collection can disturb one measurement; work on this thread would disturb all.
    let least = await measure();
    for (let round = 1; round < 3 && least.longestMs >= 50; round += 1) least = await measure();
    const { seconds, longestMs } = least;
    assert.equal(Math.round(seconds ?? 0), 24_000);
    assert.ok(longestMs < 50, `others waited for ${longestMs} ms`);
  });
});
