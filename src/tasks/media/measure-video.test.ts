import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { BufferTarget, EncodedPacket, EncodedVideoPacketSource, MkvOutputFormat, Mp4OutputFormat, Output } from 'mediabunny';

import { createMediaMeter } from '../../platform/media/media-meter.ts';
import type { MediaStorage } from './media-storage.ts';
import { measureVideo } from './measure-video.ts';

type Container = ConstructorParameters<typeof Output>[0]['format'];

/** A video of `frames` frames of 40 ms each, which cannot be decoded. */
async function makeVideo(format: Container, pictures: number, pictureBytes = 100): Promise<Uint8Array> {
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const source = new EncodedVideoPacketSource('vp8');
  output.addVideoTrack(source);
  await output.start();
  const config = { decoderConfig: { codec: 'vp8', codedWidth: 64, codedHeight: 64 } };
  for (let index = 0; index < pictures; index += 1)
    await source.add(new EncodedPacket(new Uint8Array(pictureBytes).fill(index % 256), 'key', index / 25, 1 / 25), config);
  await output.finalize();
  assert.ok(target.buffer);
  return new Uint8Array(target.buffer);
}

/** A storage with one file that counts the bytes that are read. */
function storageOf(bytes: Uint8Array) {
  const seen = { read: 0, largest: 0 };
  const open: MediaStorage['open'] = (_key, range) => {
    assert.ok(range !== undefined, 'the file is never read as a whole');
    const part = bytes.subarray(range.start, range.end + 1);
    seen.read += part.length;
    seen.largest = Math.max(seen.largest, part.length);
    return Promise.resolve(
      (async function* pieces() {
        for (let at = 0; at < part.length; at += 1000) yield part.subarray(at, at + 1000);
      })(),
    );
  };
  return { storage: { open }, seen };
}

const mediaOf = (bytes: number) => ({ key: 'media_1', mediaType: 'video/mp4', bytes, sha256: '' });
const signal = new AbortController().signal;
const tenant = 'user';
const meter = createMediaMeter();
after(() => meter.close());

const containers: readonly (readonly [name: string, format: () => Container])[] = [
  ['mp4, tables first', () => new Mp4OutputFormat({ fastStart: 'in-memory' })],
  ['mp4, tables last', () => new Mp4OutputFormat({ fastStart: false })],
  ['mp4 in fragments', () => new Mp4OutputFormat({ fastStart: 'fragmented' })],
  ['matroska', () => new MkvOutputFormat()],
];

for (const [name, format] of containers)
  test(`${name}: the length is that of the frames`, async () => {
    const file = await makeVideo(format(), 130);
    const measured = await measureVideo({ storage: storageOf(file).storage, meter }, mediaOf(file.length), { tenant, signal });
    // Matroska does not declare the duration of its last frame.
    assert.equal(measured, name === 'matroska' ? 5160 : 5200);
  });

for (const name of ['mp4, tables first', 'mp4, tables last'])
  test(`${name}: only the tables of a large file are read`, async () => {
    const format = containers.find(([each]) => each === name)?.[1];
    assert.ok(format);
    const file = await makeVideo(format(), 100, 200_000);
    const { storage, seen } = storageOf(file);
    assert.equal(await measureVideo({ storage, meter }, mediaOf(file.length), { tenant, signal }), 4000);
    assert.ok(seen.read < file.length / 10, `${seen.read} of ${file.length} bytes`);
  });

test('a file that is not a video is an error, never a length', async () => {
  const noise = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256);
  await assert.rejects(measureVideo({ storage: storageOf(noise).storage, meter }, mediaOf(noise.length), { tenant, signal }));
});

test('tables that claim to be huge are not read', async () => {
  // An index of almost 4 GB in a file that declares this size.
  const head = Buffer.alloc(64);
  head.writeUInt32BE(24, 0);
  head.write('ftypisom', 4, 'latin1');
  head.write('isomiso2', 16, 'latin1');
  head.writeUInt32BE(4_000_000_000, 24);
  head.write('moov', 28, 'latin1');
  let read = 0;
  const open: MediaStorage['open'] = (_key, range) => {
    const { start = 0, end = 0 } = range ?? {};
    read += end - start + 1;
    const part = new Uint8Array(end - start + 1);
    part.set(head.subarray(start, end + 1));
    return Promise.resolve(
      (async function* whole() {
        yield part;
      })(),
    );
  };
  const measured = await measureVideo({ storage: { open }, meter }, mediaOf(4_000_000_100), { tenant, signal }).catch(() => undefined);
  assert.equal(measured, undefined);
  assert.ok(read <= 256 * 1024 * 1024, `${read} bytes`);
});

test('an aborted measurement ends with the reason', async () => {
  const file = await makeVideo(new Mp4OutputFormat(), 10);
  await assert.rejects(
    measureVideo({ storage: storageOf(file).storage, meter }, mediaOf(file.length), {
      tenant,
      signal: AbortSignal.abort(new Error('over')),
    }),
    /over|disposed|abort/i,
  );
});
