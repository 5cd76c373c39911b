import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import OpenAI, { APIError, toFile } from 'openai';

import { eventually } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { readRows } from './audio-weir.ts';

const openaiModels = ['tts-1', 'gpt-4o-mini-tts', 'whisper-1', 'gpt-4o-transcribe'];
const models = {
  ...Object.fromEntries(openaiModels.map((model) => [model, { targets: [{ upstream: 'openai', model }] }])),
  'whisper-cpp': { targets: [{ upstream: 'whisper-cpp', model: 'base.en' }] },
  'json-only': { targets: [{ upstream: 'json-only', model: 'small' }] },
  'json-declared': { targets: [{ upstream: 'json-declared', model: 'small' }] },
};

const input = 'The kettle is on the stove. Everybody is waiting for tea.';

describe('the full circle: a text is spoken and transcribed again', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  let recording: Buffer;
  let seconds: number;

  before(async () => {
    running = await startSimulatedGateway({
      models,
      upstreams: ({ openai }) => {
        const origin = new URL(openai).origin;
        const server = { vendor: 'openai-compatible', forwardHeaders: ['x-simulator-*'] };
        const key = { apiKey: 'sk-server-0123456789' };
        return {
          'whisper-cpp': { ...server, preset: 'whisper-cpp', baseUrl: `${origin}/whisper-cpp` },
          'json-only': { ...server, ...key, baseUrl: `${origin}/json-only/v1` },
          'json-declared': { ...server, ...key, baseUrl: `${origin}/json-only/v1`, quirks: { audio: { transcriptFormats: ['json'] } } },
        };
      },
    });
    const { weir } = running;
    client = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
    recording = await speak('wav');
    seconds = await secondsOf(recording);
  });
  after(() => running[Symbol.asyncDispose]());

  async function speak(response_format: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'): Promise<Buffer> {
    const reply = await client.audio.speech.create({ model: 'tts-1', voice: 'nova', input, response_format });
    return Buffer.from(await reply.arrayBuffer());
  }

  async function secondsOf(sound: Buffer): Promise<number> {
    const reader = new Input({ source: new BufferSource(Uint8Array.from(sound)), formats: ALL_FORMATS });
    try {
      return await reader.computeDuration();
    } finally {
      reader.dispose();
    }
  }

  const lastRow = async () => {
    const rows = await eventually(
      () => readRows(running.weir.dataDirectory),
      (found) => found.length >= running.simulator.records().length,
    );
    return rows.at(-1);
  };

  const hear = (model: string, response_format: string, extra: object = {}, headers: Record<string, string> = {}): Promise<unknown> =>
    toFile(recording, 'kettle.wav').then((file) =>
      client.audio.transcriptions.create({ model, file, response_format, ...extra } as OpenAI.Audio.TranscriptionCreateParamsNonStreaming, {
        headers,
      }),
    );

  for (const format of ['mp3', 'opus', 'aac', 'flac', 'wav'] as const)
    test(`${format} is complete, with the right length`, async () => {
      const made = await secondsOf(await speak(format));
      assert.ok(Math.abs(made - seconds) < 0.2, `${made} s of ${seconds} s`);
      assert.deepEqual((await lastRow())?.usage, { inputCharacters: input.length });
    });

  test('pcm has no header, and two bytes for each of 24,000 samples per second', async () => {
    const samples = await speak('pcm');
    assert.notEqual(samples.toString('latin1', 0, 4), 'RIFF');
    assert.ok(Math.abs(samples.length / 48_000 - seconds) < 0.2);
  });

  for (const model of ['whisper-1', 'whisper-cpp'])
    test(`${model}: the words are returned in all five forms`, async () => {
      const json = (await hear(model, 'json')) as { text: string };
      assert.equal(json.text.trim().replaceAll(/\s+/g, ' '), input);
      assert.match(String(await hear(model, 'text')), /kettle[^]*tea\.\n$/);
      assert.match(String(await hear(model, 'srt')), /^1\n00:00:00,000 --> 00:00:\d\d,\d{3}\n[^]*\n\n$/);
      assert.match(String(await hear(model, 'vtt')), /^WEBVTT\n\n00:00:00\.000 --> 00:00:\d\d\.\d{3}\n[^]*\n\n$/);
      const both = { timestamp_granularities: ['word', 'segment'] };
      const verbose = (await hear(model, 'verbose_json', both)) as OpenAI.Audio.TranscriptionVerbose;
      assert.deepEqual([verbose.language, typeof verbose.duration, verbose.words?.length], ['english', 'number', 11]);
      assert.ok((verbose.segments?.length ?? 0) > 0);
      assert.deepEqual((await lastRow())?.usage, { inputAudioMs: Math.ceil(seconds) * 1000 });
    });

  test('a translation is English text from the vendor and from whisper.cpp', async () => {
    for (const model of ['whisper-1', 'whisper-cpp']) {
      const file = await toFile(recording, 'kettle.wav');
      assert.match((await client.audio.translations.create({ model, file })).text, /simulated English translation/);
    }
  });

  for (const [kind, formats] of [
    ['string-duration', ['verbose_json']],
    ['language-code', ['verbose_json']],
    ['no-duration', ['verbose_json']],
    ['quoted-text', ['text', 'srt', 'vtt']],
  ] as const)
    for (const format of formats)
      test(`${format} of a server with ${kind} is correct`, async () => {
        const odd = await hear('whisper-1', format, {}, { 'x-simulator-fault': `audio-quirk;kind=${kind}` });
        const usual = await hear('whisper-1', format);
        if (kind !== 'no-duration') return assert.deepEqual(odd, usual);
        assert.equal(typeof (odd as OpenAI.Audio.TranscriptionVerbose).duration, 'number');
      });

  for (const [model, before] of [
    ['json-only', 1],
    ['json-declared', 0],
  ] as const)
    test(`${model}: the text is extracted, and subtitles without times are refused ${before === 1 ? 'when that is detected' : 'in advance'}`, async () => {
      assert.equal(String(await hear(model, 'text')).trim(), input);
      const calls = running.simulator.records().length;
      for (const format of ['srt', 'verbose_json'])
        await assert.rejects(hear(model, format), (error: unknown) => error instanceof APIError && error.status === 400);
      assert.equal(running.simulator.records().length - calls, 2 * before);
    });

  test('events of a transcription come one by one, with their tokens', async () => {
    const file = await toFile(recording, 'kettle.wav');
    const stream = await client.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file, stream: true });
    let text = '';
    for await (const event of stream) if (event.type === 'transcript.text.delta') text += event.delta;
    assert.equal(text.trim(), input);
    const row = await lastRow();
    assert.ok((row?.usage.inputTokens ?? 0) > 0 && (row?.usage.outputTokens ?? 0) > 0);
    assert.equal(row?.estimated, false);
  });

  test('a duration that the upstream does not report is measured in every container', async () => {
    for (const [format, name] of [
      ['mp3', 'a.mp3'],
      ['opus', 'a.ogg'],
      ['flac', 'a.flac'],
    ] as const) {
      const file = await toFile(await speak(format), name);
      await client.audio.transcriptions.create({ model: 'whisper-1', file, response_format: 'text' });
      const row = await lastRow();
      assert.deepEqual([row?.estimated, row?.usage], [false, { inputAudioMs: Math.ceil(seconds - 0.001) * 1000 }], format);
    }
  });
});
