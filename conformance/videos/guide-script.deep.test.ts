import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { startSimulatedGateway } from '../support/start-simulated-weir.ts';

const run = promisify(execFile);

const hasProgram = (name: string): boolean => spawnSync(name, ['-version']).status === 0;

const hasFfmpeg = hasProgram('ffmpeg') && hasProgram('ffprobe');

type Probe = {
  readonly format: { readonly format_name: string; readonly duration: string };
  readonly streams: readonly {
    readonly codec_name: string;
    readonly width?: number;
    readonly height?: number;
    readonly sample_rate?: string;
  }[];
};

async function probe(path: string): Promise<Probe> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_format', '-show_streams', '-of', 'json', path]);
  return JSON.parse(stdout) as Probe;
}

test(
  'the script of videos.md makes a video and speech that other programs can play',
  { skip: hasFfmpeg ? false : 'ffmpeg is not installed' },
  async () => {
    await using running = await startSimulatedGateway();
    const directory = await mkdtemp(join(tmpdir(), 'weir-guide-'));
    try {
      const script = new URL('../../docs/guide/media.sh', import.meta.url).pathname;
      const env = { ...process.env, WEIR_URL: running.weir.gatewayUrl, WEIR_API_KEY: running.weir.apiKey };
      const { stdout } = await run(script, [directory], { env, timeout: 120_000 });
      assert.match(stdout, /video\.completed/);

      const video = await probe(join(directory, 'video.mp4'));
      const [picture] = video.streams;
      assert.match(video.format.format_name, /mp4/);
      assert.equal(picture?.codec_name, 'h264');
      assert.ok(Math.abs(Number(video.format.duration) - 5) < 0.1, video.format.duration);
      assert.equal(picture.height, 480);
      assert.ok(Math.abs((picture.width ?? 0) / 480 - 16 / 9) < 0.02, String(picture.width));
      const { stderr } = await run('ffmpeg', ['-v', 'error', '-i', join(directory, 'video.mp4'), '-f', 'null', '-']);
      assert.equal(stderr, '');
      assert.equal((await readFile(join(directory, 'frame.png'))).subarray(1, 4).toString(), 'PNG');
      const object = JSON.parse(await readFile(join(directory, 'video.json'), 'utf8')) as Record<string, unknown>;
      assert.deepEqual([object['object'], object['status'], object['progress']], ['video', 'completed', 100]);

      const speech = await probe(join(directory, 'speech.mp3'));
      assert.equal(speech.streams[0]?.codec_name, 'mp3');
      const said = 'The beach was a popular spot. People were swimming and playing volleyball.';
      const text = await readFile(join(directory, 'speech.text'), 'utf8');
      assert.equal(text, `${said}\n`);
      assert.equal((JSON.parse(await readFile(join(directory, 'speech.json'), 'utf8')) as { text: string }).text, said);
      const verbose = JSON.parse(await readFile(join(directory, 'speech.verbose_json'), 'utf8')) as { duration: number; language: string };
      assert.equal(verbose.language, 'english');
      assert.ok(Math.abs(verbose.duration - Number(speech.format.duration)) < 0.2);
      assert.match(await readFile(join(directory, 'speech.srt'), 'utf8'), /^1\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\n/);
      assert.match(await readFile(join(directory, 'speech.vtt'), 'utf8'), /^WEBVTT\n\n00:00:00\.\d{3} --> /);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
