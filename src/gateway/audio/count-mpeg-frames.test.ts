import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { countMpegFrames } from './count-mpeg-frames.ts';
import { measureSound } from './measure-sound.ts';
import { UploadSpool } from './upload-spool.ts';
import { threadMs } from '../../platform/thread-ms.ts';

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
  const directory = mkdtempSync(join(tmpdir(), 'weir-frames-'));
  const spool = new UploadSpool(directory, () => 100_000_000);
  after(() => rmSync(directory, { recursive: true, force: true }));
  const count = async (bytes: Buffer): Promise<number | undefined> => {
    const upload = spool.begin();
    await upload.write(bytes);
    const seconds = await countMpegFrames(upload, new AbortController().signal);
    await upload.discard();
    return seconds === undefined ? undefined : Math.round(seconds * 1000);
  };

  for (const [name, bytes, milliseconds] of [
    ['usual frames', repeat(usual, 1000), 26_122],
    ['frames beyond one window and in a file', repeat(usual, 20_000), 522_449],
    ['frames at a low rate', repeat(low, 1000), 24_000],
    ['a tag before them, however like frames it is', Buffer.concat([tag(3000), repeat(usual, 100)]), 2612],
    ['a tag behind them', Buffer.concat([repeat(usual, 100), Buffer.from('TAG'), Buffer.alloc(125)]), 2612],
    ['a table in the first, and what it says does not count', Buffer.concat([frameOf(0xfffb9000, 417, 'Xing'), repeat(usual, 100)]), 2612],
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

  test('a million tiny frames hold nobody up, and are charged', async () => {
    const upload = spool.begin();
    await upload.write(repeat(tiny, 1_000_000));
    let longestMs = 0;
    let lastMs = threadMs();
    const watch = setInterval(() => {
      const nowMs = threadMs();
      longestMs = Math.max(longestMs, nowMs - lastMs);
      lastMs = nowMs;
    }, 5);
    const length = await measureSound(upload, 'mp3', AbortSignal.timeout(30_000));
    clearInterval(watch);
    await upload.discard();
    assert.deepEqual(length, { audioMs: 24_000_000, measured: true });
    assert.ok(longestMs < 250, `others waited for ${longestMs} ms`);
  });
});
