import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { audioFormats, encodeAudio, type AudioFormat } from './audio-encode.ts';
import { finish, fromBytes, msOfSamples, sampleRate, stretch } from './audio-pcm.ts';
import { writeTranscriptComment } from './audio-transcript.ts';
import { hearRecording } from './hear-recording.ts';
import { synthesizeSpeech } from './audio-speech.ts';
import { playTones } from './audio-tones.ts';

const text = 'People were swimming — größer, "日本" and all!';
const formats = audioFormats.filter((format) => format !== 'pcm');
const toleranceMs = 100;

const codecs: Readonly<Record<AudioFormat, string>> = {
  mp3: 'mp3',
  opus: 'opus',
  aac: 'aac',
  flac: 'flac',
  wav: 'pcm_s16le',
  pcm: 'pcm_s16le',
};

const isMissing = (program: string): string | false =>
  spawnSync(program, ['-version'], { timeout: 10_000 }).status === 0 ? false : `${program} is not installed`;
const skipWithoutFfmpeg = isMissing('ffmpeg');
const skipWithoutFfprobe = isMissing('ffprobe');

/**
 * Decodes a file with ffmpeg. In strict mode it fails at the first error, and also treats an unknown length as an
 * error.
 */
function decode(bytes: Buffer, isStrict = true): Int16Array {
  const strictly = isStrict ? ['-xerror', '-err_detect', 'explode'] : [];
  const parameters = ['-v', 'error', ...strictly, '-i', 'pipe:0', '-f', 's16le', '-ac', '1', '-ar', `${sampleRate}`, 'pipe:1'];
  const { status, stdout, stderr } = spawnSync('ffmpeg', parameters, { input: bytes, timeout: 20_000, maxBuffer: 1e8 });
  assert.equal(stderr.toString(), '');
  assert.equal(status, 0);
  return fromBytes(stdout);
}

function assertHeard(samples: Int16Array, note: string): void {
  let squares = 0;
  let peak = 0;
  for (const sample of samples) {
    squares += sample ** 2;
    peak = Math.max(peak, Math.abs(sample));
  }
  const rms = Math.sqrt(squares / samples.length);
  assert.ok(rms > 500, `${note} is silent: ${rms}`);
  assert.ok(peak < 32_000, `${note} is clipped: ${peak}`);
}

for (const format of formats) {
  test(`unreadable-audio: ${format} is read back with its codec, rate, duration and text`, async () => {
    const samples = finish(playTones(text, 262, 1));
    const durationMs = msOfSamples(samples.length);
    const bytes = await encodeAudio(samples, format, writeTranscriptComment(text, durationMs));
    const input = new Input({ source: new BufferSource(new Uint8Array(bytes)), formats: ALL_FORMATS });
    const track = await input.getPrimaryAudioTrack();
    assert.equal(track?.codec, codecs[format].replace('pcm_s16le', 'pcm-s16'));
    assert.equal(track?.sampleRate, format === 'opus' ? 48_000 : sampleRate);
    assert.ok(Math.abs((await track.computeDuration()) * 1000 - durationMs) < toleranceMs);
    const heard = await hearRecording(new Uint8Array(bytes));
    assert.equal(heard?.text, text);
    assert.equal(heard.isCarried, true);
    assert.equal(heard.words.at(-1)?.endMs, Math.round(durationMs));
  });

  test(`unplayable-audio: ${format} is recognised by ffprobe`, { skip: skipWithoutFfprobe }, async () => {
    const samples = finish(playTones(text, 262, 1));
    const bytes = await encodeAudio(samples, format, '');
    const parameters = ['-v', 'error', '-show_entries', 'stream=codec_name,sample_rate,channels', '-of', 'csv=p=0', '-'];
    const { stdout } = spawnSync('ffprobe', parameters, { input: bytes, timeout: 20_000 });
    assert.equal(stdout.toString().trim(), `${codecs[format]},${format === 'opus' ? 48_000 : sampleRate},1`);
  });

  test(
    `undecodable-audio: ffmpeg decodes ${format} without a warning, with its original length and loudness`,
    { skip: skipWithoutFfmpeg },
    async () => {
      const { samples } = await synthesizeSpeech(text, 'nova', 1);
      const decoded = decode(await encodeAudio(samples, format, writeTranscriptComment(text, msOfSamples(samples.length))));
      assert.ok(Math.abs(msOfSamples(decoded.length - samples.length)) < toleranceMs);
      assertHeard(decoded, format);
      if (format === 'flac' || format === 'wav') assert.deepEqual(decoded, samples);
    },
  );
}

const signals: readonly (readonly [name: string, samples: Int16Array])[] = [
  ['one sample', Int16Array.of(-32_768)],
  ['two samples', Int16Array.of(-32_768, 32_767)],
  ['silence', new Int16Array(5_000)],
  ['full swing', Int16Array.from({ length: 9_000 }, (_, index) => (index % 2 === 0 ? 32_767 : -32_768))],
  ['a block and one', Int16Array.from({ length: 4_097 }, (_, index) => (index * 7_919) % 30_000)],
];

for (const [name, samples] of signals) {
  test(`lossy-flac: ${name} is decoded bit by bit as it was`, { skip: skipWithoutFfmpeg }, async () => {
    assert.deepEqual(decode(await encodeAudio(samples, 'flac', '')), samples);
  });
}

test('unplayable-audio: a WAVE file of unknown length is read to its end', { skip: skipWithoutFfmpeg }, async () => {
  const samples = finish(playTones(text, 262, 1));
  const bytes = await encodeAudio(samples, 'wav', writeTranscriptComment(text, 1_000), true);
  assert.equal(bytes.readUInt32LE(4), 0xffffffff);
  assert.deepEqual(decode(bytes, false), samples);
  const heard = await hearRecording(new Uint8Array(bytes));
  assert.equal(heard?.text, text);
  assert.ok(Math.abs(heard.durationMs - msOfSamples(samples.length)) < 1);
});

test('unsteady-bytes: the same samples and comment give the same file', async () => {
  const samples = finish(playTones(text, 262, 1));
  for (const format of audioFormats)
    assert.deepEqual(await encodeAudio(samples, format, 'x'), await encodeAudio(samples, format, 'x'), format);
});

test('cut-audio: a recording that ends early says no more than its beginning', async () => {
  const samples = finish(playTones(text, 262, 1));
  const whole = await encodeAudio(samples, 'mp3', writeTranscriptComment(text, msOfSamples(samples.length)));
  const heard = await hearRecording(new Uint8Array(whole.subarray(0, whole.length / 2)));
  assert.ok(heard !== undefined && heard.text.length > 10 && heard.text.length < text.length && text.startsWith(heard.text));
  assert.ok(heard.words.every(({ startMs }) => startMs < heard.durationMs));
  assert.ok(heard.segments.length > 0);
});

test('no-synthesizer: tones are audible and last as long as the text and the speed require', () => {
  const once = playTones(text, 262, 1);
  const twice = playTones(`${text} ${text}`, 262, 1);
  assert.ok(twice.length > 1.9 * once.length && twice.length < 2.2 * once.length);
  assert.ok(Math.abs(playTones(text, 262, 2).length * 2 - once.length) < 200);
  assertHeard(finish(once), 'tones');
});

test('same-voice: voices and speeds differ, and the same order gives the same audio', async () => {
  const nova = await synthesizeSpeech(text, 'nova', 1);
  assert.deepEqual((await synthesizeSpeech(text, 'nova', 1)).samples, nova.samples);
  assert.notDeepEqual((await synthesizeSpeech(text, 'onyx', 1)).samples, nova.samples);
  for (const speed of [0.25, 4]) {
    const { samples } = await synthesizeSpeech(text, 'nova', speed);
    const ratio = nova.samples.length / samples.length / speed;
    assert.ok(ratio > 0.75 && ratio < 1.35, `speed ${speed} is ${ratio} of the expected one`);
    assertHeard(samples, `speed ${speed}`);
  }
});

test('stretched-audio: audio becomes longer by the requested factor, with the same loudness', () => {
  const tone = playTones('one two three four', 220, 1);
  const longer = stretch(tone, 2.5);
  assert.equal(longer.length, Math.round(tone.length * 2.5));
  assertHeard(longer, 'stretched');
});

test('odd-text: a text without words still makes audio in every format', async () => {
  for (const odd of [' ', '...', '😀', '\0']) {
    const { samples } = await synthesizeSpeech(odd, 'alloy', 1);
    for (const format of odd === ' ' ? audioFormats : (['mp3'] as const))
      assert.ok((await encodeAudio(samples, format, '')).length > 100, `${format} of ${JSON.stringify(odd)}`);
  }
});
