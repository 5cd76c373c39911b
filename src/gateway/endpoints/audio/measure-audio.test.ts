import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { createMediaMeter } from '../../../platform/media/media-meter.ts';
import { measureAudio, type AudioDuration } from './measure-audio.ts';
import { UploadSpool } from '../shared/upload-spool.ts';

const rate = 8000;

/** Eight-bit samples of one channel; the header declares `declared` bytes. */
function wavOf(seconds: number, declared: number): Buffer {
  const wav = Buffer.alloc(44 + seconds * rate, 0x80);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(Math.min(36 + declared, 0xffffffff), 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  for (const [at, value] of [
    [16, 16],
    [24, rate],
    [28, rate],
    [40, declared],
  ] as const)
    wav.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    wav.writeUInt16LE(value, at);
  wav.write('data', 36, 'latin1');
  return wav;
}

describe('recordings with a wrong declared length', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-measure-'));
  const spool = new UploadSpool(directory, () => 100_000_000);
  const meter = createMediaMeter();
  after(() => meter.close());
  after(() => rmSync(directory, { recursive: true, force: true }));
  const measure = async (bytes: Buffer): Promise<AudioDuration> => {
    const upload = spool.begin();
    await upload.write(bytes);
    const length = await measureAudio(meter, { upload, container: 'wav' }, { tenant: 'user', signal: AbortSignal.timeout(30_000) });
    await upload.discard();
    return length;
  };
  const junk = Buffer.from('JUNK\0\0\0\0');

  for (const [name, bytes, length] of [
    ['600 declared seconds and one actual second count as one second', wavOf(1, 600 * rate), { audioMs: 1000, measured: true }],
    ['one declared second and 600 actual seconds count as the declared second', wavOf(600, rate), { audioMs: 1000, measured: true }],
    ['a stream that declares nothing counts its samples', wavOf(5, 0xffffffff), { audioMs: 5000, measured: true }],
    [
      'a file with a million empty chunks before its audio is estimated by its size',
      Buffer.concat([wavOf(1, rate).subarray(0, 36), ...Array.from({ length: 1_000_000 }, () => junk), wavOf(1, rate).subarray(36)]),
      { audioMs: 251_000, measured: false },
    ],
    [
      'a file with samples of no size is estimated by its size',
      Buffer.concat([wavOf(4, 4 * rate).subarray(0, 32), Buffer.alloc(4), wavOf(4, 4 * rate).subarray(36)]),
      { audioMs: 2000, measured: false },
    ],
  ] as const)
    test(name, async () => assert.deepEqual(await measure(bytes), length));
});
