import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';

import { toFile } from 'openai';

import { type AudioWeir, startAudioWeir } from './audio-weir.ts';
import { type Answer, makeWav, sendJson } from './start-audio-upstream.ts';

const sendAs = (response: ServerResponse, type: string, body: string | Buffer): void =>
  void response.writeHead(200, { 'content-type': type }).end(body);
const page = '<!DOCTYPE html><html><body>502 Bad Gateway</body></html>';
const jsonError = '{"error":{"message":"the model is loading"}}';
const usual: Answer = (seen, response) =>
  seen.path.endsWith('/speech') ? sendAs(response, 'audio/wav', makeWav(1)) : sendJson(response, 200, { text: 'Hello.' });

/** Faults of an upstream that the client never notices while another upstream is available. */
const faults: Readonly<Record<string, Answer>> = {
  'status 500': (_, response) => sendJson(response, 500, { error: { message: 'broken' } }),
  'status 429': (_, response) => sendJson(response, 429, { error: { message: 'slow down' } }),
  'a reset before the head': (_, response) => void response.destroy(),
  'an error in JSON as 200': (_, response) => sendAs(response, 'application/json', jsonError),
  'an error in JSON with an audio content type': (_, response) => sendAs(response, 'audio/mpeg', jsonError),
  'an HTML page as 200': (_, response) => sendAs(response, 'text/html', page),
  'an HTML page with another content type': (_, response) => sendAs(response, 'application/octet-stream', page),
  'nothing as 200': (_, response) => sendAs(response, 'audio/mpeg', ''),
};

/** A Weir with two upstreams, for the tests of a suite one after the other. */
function startBoth(config: Readonly<Record<string, unknown>> = {}) {
  let running: AudioWeir;
  let rowsSoFar = 0;
  before(async () => {
    const both = (model: string) => ({
      targets: [
        { upstream: 'vendor', model },
        { upstream: 'server', model },
      ],
    });
    running = await startAudioWeir(usual, {
      config: { retries: { attemptsMax: 2, avoidFailing: false }, ...config },
      models: { 'two-voices': both('tts-1'), 'two-targets': both('whisper-1'), 'two-texts': both('whisper-1') },
    });
  });
  after(() => running[Symbol.asyncDispose]());
  beforeEach(() => {
    running.upstream.answer = usual;
  });
  return { weir: () => running, nextRow: async () => (await running.rows((rowsSoFar += 1))).at(-1) };
}

function testFaults({ weir, nextRow }: ReturnType<typeof startBoth>, which: typeof faults): void {
  for (const [name, answer] of Object.entries(which)) {
    test(`${name}: another upstream generates the speech, and the call is charged once`, async () => {
      const running = weir();
      running.upstream.answer = answer;
      const reply = await running.client.audio.speech.create({ model: 'two-voices', voice: 'alloy', input: 'hello' });
      assert.equal(Buffer.from(await reply.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
      const row = await nextRow();
      assert.deepEqual(
        [row?.end, row?.upstream, row?.usage, row?.failedAttempts?.length],
        ['finished', 'server', { inputCharacters: 5 }, 1],
      );
    });

    test(`${name}: another upstream transcribes the same recording, byte for byte`, async () => {
      const running = weir();
      running.upstream.answer = answer;
      const wav = makeWav(12);
      wav.fill(7, 1000, 300_000);
      const file = await toFile(wav, 'a.wav');
      const response_format = name.includes('page') ? 'text' : 'json';
      running.second.answer = (_, response) =>
        response_format === 'text' ? sendAs(response, 'text/plain', 'Hello.\n') : usual(_, response);
      await running.client.audio.transcriptions.create({ model: 'two-targets', file, response_format });
      running.second.answer = usual;
      assert.ok(running.second.calls.at(-1)?.body.includes(wav));
      const row = await nextRow();
      assert.deepEqual(
        [row?.end, row?.upstream, row?.usage, row?.failedAttempts?.length],
        ['finished', 'server', { inputAudioMs: 12_000 }, 1],
      );
    });
  }
}

describe('audio when the first of two upstreams is silent', () => {
  // The second upstream gets the same time-out. The other faults take no time, so their suite keeps a longer one.
  testFaults(startBoth({ timeouts: { firstByteMs: 5000, idleMs: 5000 } }), { silence: () => {} });
});

describe('audio when the first of two upstreams fails', () => {
  const both = startBoth();
  const { weir, nextRow } = both;
  testFaults(both, faults);

  for (const [format, body, isGood] of [
    ['srt', 'Internal error', false],
    ['srt', jsonError, false],
    ['vtt', '1\n00:00:00,000 --> 00:00:01,000\na\n\n', false],
    ['text', page, false],
    ['srt', JSON.stringify('1\n00:00:00,000 --> 00:00:01,000\na\n\n'), true],
    ['srt', '', true],
    ['vtt', 'WEBVTT\n\n', true],
  ] as const)
    test(`a ${format} reply of ${JSON.stringify(body.slice(0, 30))} is ${isGood ? 'delivered' : 'an error, and free'}`, async () => {
      const running = weir();
      running.upstream.answer = (_, response) => sendAs(response, 'text/plain', body);
      const asked = running.client.audio.transcriptions.create({
        model: 'whisper-1',
        file: await toFile(makeWav(1), 'a.wav'),
        response_format: format,
      });
      if (isGood) assert.ok(!String(await asked).startsWith('"'));
      else await assert.rejects(asked, (error: { status?: number }) => (error.status ?? 0) >= 500);
      const row = await nextRow();
      assert.deepEqual([row?.end, row?.usage], isGood ? ['finished', { inputAudioMs: 1000 }] : ['failed', {}]);
    });

  test('a reset after half the audio breaks the client’s connection, and there is no second attempt', async () => {
    const running = weir();
    const seen = running.second.calls.length;
    let reset = (): void => {};
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '20000' });
      response.write(Buffer.alloc(10_000, 1));
      reset = () => void response.socket?.resetAndDestroy();
    };
    // Only after the client has its head: a reset may overtake data that was sent before it.
    const reply = await running.client.audio.speech.create({ model: 'two-voices', voice: 'alloy', input: 'hello' });
    reset();
    await assert.rejects(reply.arrayBuffer());
    assert.equal(running.second.calls.length, seen);
    const row = await nextRow();
    assert.deepEqual([row?.end, row?.usage, row?.upstream], ['cut', { inputCharacters: 5 }, 'vendor']);
  });
});
