import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { resolutions, aspectRatios, ratioOf, secondsOf, shapeOf } from '../videos/video-shape.ts';
import { createBitWriter } from './h264-bits.ts';
import { readVideo } from './read-video.ts';
import { framesPerSecond, renderVideo, type VideoDrawing } from './render-video.ts';

const directory = mkdtempSync(join(tmpdir(), 'render-video-'));
after(() => rmSync(directory, { recursive: true }));

const withoutFfmpeg = spawnSync('ffprobe', ['-version']).status === 0 ? false : 'ffmpeg is not installed';
const prompt = 'A lighthouse at dusk; waves break on the rocks, and gulls (three of them) circle.';

function drawing(changes: Partial<VideoDrawing> = {}): VideoDrawing {
  return { model: 'test-video', prompt, inputs: [], width: 854, height: 480, frames: 48, ...changes };
}

function run(program: string, ...parameters: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, parameters, { encoding: 'utf8', timeout: 30_000 });
  assert.equal(`${status} ${stderr}`, '0 ', program);
  return stdout.trim();
}

/** All visible samples, frame after frame, as one decoder returns them. */
function decode(path: string, format: 'gray' | 'yuv420p'): Buffer {
  const parameters = ['-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', format, '-'];
  const { stdout, stderr } = spawnSync('ffmpeg', parameters, { maxBuffer: 1_000_000_000, timeout: 30_000 });
  assert.equal(stderr.toString(), '');
  return stdout;
}

const shapes = Object.entries(resolutions).flatMap(([name, edge]) =>
  aspectRatios.map((ratio, index) => ({ name: `${name} ${ratio}`, shape: shapeOf(1 + (index % 2), edge, ratioOf(ratio)) })),
);

test('every resolution and ratio is read back with its exact size and length', async () => {
  for (const { name, shape } of shapes) {
    const facts = await readVideo(await renderVideo(drawing(shape)));
    assert.ok(facts, name);
    assert.deepEqual([facts.width, facts.height], [shape.width, shape.height], name);
    assert.ok(Math.abs(facts.seconds - secondsOf(shape)) < 0.001, `${name}: ${facts.seconds}`);
    assert.ok(shape.width % 2 === 0 && shape.height % 2 === 0);
  }
});

// Each ratio at one resolution, and each resolution at two ratios at least, because a decoder starts slowly.
const decoded = shapes.filter((_, index) => (index % aspectRatios.length) % 3 === Math.floor(index / aspectRatios.length));

test('a decoder reads every resolution and ratio without a warning, at its exact size and length', { skip: withoutFfmpeg }, async () => {
  for (const { name, shape } of decoded) {
    const path = join(directory, 'shape.mp4');
    writeFileSync(path, await renderVideo(drawing(shape)));
    const entries = 'stream=codec_name,profile,width,height,nb_frames';
    const probed = run('ffprobe', '-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', path);
    assert.equal(probed, `h264,Constrained Baseline,${shape.width},${shape.height},${shape.frames}`, name);
    assert.equal(run('ffmpeg', '-v', 'error', '-i', path, '-f', 'null', '-'), '', name);
  }
});

test('the clock changes at each second and nothing changes between', { skip: withoutFfmpeg }, async () => {
  const { width, height, frames } = drawing({ width: 320, height: 180, frames: 72 });
  const path = join(directory, 'clock.mp4');
  writeFileSync(path, await renderVideo(drawing({ width, height, frames })));
  const samples = decode(path, 'gray');
  const size = width * height;
  assert.equal(samples.length, size * frames);
  for (let frame = 1; frame < frames; frame++) {
    const same = samples.subarray(frame * size, (frame + 1) * size).equals(samples.subarray((frame - 1) * size, frame * size));
    assert.equal(same, frame % framesPerSecond !== 0, `frame ${frame}`);
  }
});

test('images of any even size decode without an error, whatever text they contain', { skip: withoutFfmpeg }, async () => {
  const even = fc.integer({ min: 32, max: 200 }).map((half) => half * 2);
  await fc.assert(
    fc.asyncProperty(
      even,
      even,
      fc.integer({ min: 1, max: 50 }),
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      async (width, height, frames, text) => {
        const path = join(directory, 'any.mp4');
        writeFileSync(path, await renderVideo(drawing({ width, height, frames, prompt: text, inputs: [text] })));
        assert.equal(decode(path, 'yuv420p').length, width * height * 1.5 * frames);
      },
    ),
    { numRuns: 5 },
  );
});

test('the longest video is small, and its index comes first', async () => {
  const file = Buffer.from(
    await renderVideo(drawing({ width: 1280, height: 720, frames: 15 * framesPerSecond, prompt: prompt.repeat(20) })),
  );
  assert.ok(file.length < 2_000_000, `${file.length} bytes`);
  assert.ok(file.indexOf('moov') < file.indexOf('mdat'));
});

test('one frame is independent and every other one is derived from it', async () => {
  const file = await renderVideo(drawing());
  const input = new Input({ source: new BufferSource(file), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  assert.ok(track);
  const types: string[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) types.push(packet.type);
  assert.deepEqual(types, ['key', ...Array.from({ length: 47 }, () => 'delta')]);
});

test('the same drawing is rendered once, and another one is rendered again', async () => {
  const [first, second, other] = await Promise.all([renderVideo(drawing()), renderVideo(drawing()), renderVideo(drawing({ prompt: 'x' }))]);
  assert.equal(first, second);
  assert.notDeepEqual(first, other);
});

test('no unit of the stream contains a start code', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 1, 2, 3, 4, 255), { maxLength: 60 }), (bytes) => {
      const writer = createBitWriter(0x65, bytes.length);
      writer.bytes(Uint8Array.from(bytes));
      const unit = Buffer.from(writer.finish());
      for (const forbidden of [0, 1, 2]) assert.equal(unit.indexOf(Buffer.from([0, 0, forbidden])), -1);
      const restored = Buffer.from(unit.toString('latin1').replaceAll('\0\0\u0003', '\0\0'), 'latin1');
      assert.deepEqual([...restored], [0x65, ...bytes, 0x80]);
    }),
  );
});
