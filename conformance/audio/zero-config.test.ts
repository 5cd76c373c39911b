import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { eventually, post } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type AudioWeir, readRows, startAudioWeir } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';

const input = 'The kettle is on 👋.';
const characters = BigInt(Array.from(input).length);

/** USD of a model by the statistics of the last hour. */
async function billed({ monitorUrl, billingToken }: ServedWeir, modelName: string): Promise<{ calls: number; usd: number }> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const request = { type: 2, startTime: nowSeconds - 7200, endTime: nowSeconds + 3600, modelName };
  const answer = await post(`${monitorUrl}/bill/stats`, request, { token: billingToken });
  const rows = answer.json.data as { callCount: number; totalAmount: number }[];
  const sum = (of: (row: { callCount: number; totalAmount: number }) => number): number => rows.reduce((total, row) => total + of(row), 0);
  return { calls: sum(({ callCount }) => callCount), usd: sum(({ totalAmount }) => totalAmount) };
}

describe('audio of a Weir without any configuration', () => {
  let weir: ServedWeir;
  let client: OpenAI;
  before(async () => {
    weir = await serveWeir();
    client = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
  });
  after(() => weir[Symbol.asyncDispose]());

  const speak = async (model: string): Promise<Buffer> =>
    Buffer.from(await (await client.audio.speech.create({ model, voice: 'nova', input, response_format: 'wav' })).arrayBuffer());
  const rowsOf = async (model: string) =>
    eventually(
      () => readRows(weir.dataDirectory).filter(({ requestedModel }) => requestedModel === model),
      (rows) => rows.length > 0,
    );

  test('the models are listed', async () => {
    const listed = (await client.models.list()).data.map(({ id }) => id);
    for (const model of ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts', 'whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])
      assert.ok(listed.includes(model), `${model} is not among ${listed.join(', ')}`);
  });

  for (const [model, nanoPerCharacter] of [
    ['tts-1', 15_000n],
    ['tts-1-hd', 30_000n],
  ] as const)
    test(`${model}: each code point is charged exactly`, async () => {
      assert.equal((await speak(model)).toString('latin1', 0, 4), 'RIFF');
      const [row] = await rowsOf(model);
      assert.equal(BigInt(String(row?.charge.amountNanoUsd)), characters * nanoPerCharacter);
      const { calls, usd } = await billed(weir, model);
      assert.deepEqual([calls, Math.round(usd * 1e9)], [1, Number(characters * nanoPerCharacter)]);
    });

  test('whisper-1: each second that has begun is charged exactly', async () => {
    const file = await toFile(makeWav(7.3), 'a.wav');
    assert.equal(typeof (await client.audio.transcriptions.create({ model: 'whisper-1', file })).text, 'string');
    const [row] = await rowsOf('whisper-1');
    assert.deepEqual(row?.usage, { inputAudioMs: 8000 });
    assert.equal(BigInt(String(row?.charge.amountNanoUsd)), 800_000n);
    const { calls, usd } = await billed(weir, 'whisper-1');
    assert.deepEqual([calls, Math.round(usd * 1e9)], [1, 800_000]);
  });

  for (const model of ['gpt-4o-mini-tts', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])
    test(`${model} is charged by the token, and by nothing else`, async () => {
      if (model.endsWith('tts')) await speak(model);
      else await client.audio.transcriptions.create({ model, file: await toFile(makeWav(3), 'a.wav') });
      const [row] = await rowsOf(model);
      assert.ok(BigInt(String(row?.charge.amountNanoUsd)) > 0n, JSON.stringify(row));
      const meters = row?.charge.lines.map(({ meter }) => meter) ?? [];
      assert.ok(meters.length > 0 && !meters.includes('audio_second') && !meters.includes('characters'), meters.join());
      assert.equal((await billed(weir, model)).calls, 1);
    });
});

describe('audio of a self-hosted server', () => {
  let running: AudioWeir;
  before(async () => {
    const prices = { 'own-voice': { characters: '4' }, 'own-whisper': { audioMinute: '0.003' } };
    running = await startAudioWeir((_, response) => sendJson(response, 200, { text: 'Hello.' }), {
      models: {
        'own-voice': { targets: [{ upstream: 'server', model: 'kokoro' }], price: prices['own-voice'] },
        'own-whisper': { targets: [{ upstream: 'server', model: 'small' }], price: prices['own-whisper'] },
      },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  test('it is charged as its operator configured, and a model of the vendor that reports nothing is charged only once', async () => {
    const file = () => toFile(makeWav(5.5), 'a.wav');
    await running.client.audio.transcriptions.create({ model: 'own-whisper', file: await file() });
    await running.client.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file: await file() });
    running.second.answer = (_, response) => void response.writeHead(200, { 'content-type': 'audio/wav' }).end(makeWav(1));
    await (await running.client.audio.speech.create({ model: 'own-voice', voice: 'af_sky', input })).arrayBuffer();
    const rows = await running.rows(3);
    const [minutes, tokens, read] = ['own-whisper', 'gpt-4o-transcribe', 'own-voice'].map((model) =>
      rows.find(({ requestedModel }) => requestedModel === model),
    );
    assert.equal(BigInt(String(minutes?.charge.amountNanoUsd)), 300_000n);
    assert.equal(BigInt(String(read?.charge.amountNanoUsd)), characters * 4000n);
    assert.deepEqual([tokens?.estimated, tokens?.charge.lines.some(({ meter }) => meter === 'audio_second')], [true, false]);
    // Six seconds are 60 tokens of audio at 6 USD per million; six characters are 2 tokens at 10.
    assert.equal(BigInt(String(tokens?.charge.amountNanoUsd)), 60n * 6000n + 2n * 10_000n);
  });
});
