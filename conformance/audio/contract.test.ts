import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ALL_FORMATS, BufferSource, BufferTarget, Conversion, Input, Mp4OutputFormat, Output, WebMOutputFormat } from 'mediabunny';

import { type Answer, eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

const voices = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];
const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const input = 'The kettle is on the stove.';
const usual = { model: 'tts-1', input, voice: 'alloy' };
const models = Object.fromEntries(['tts-1', 'tts-1-hd', 'whisper-1'].map((model) => [model, { targets: [{ upstream: 'openai', model }] }]));

/** The same audio in another container, packet by packet. */
async function repack(sound: Buffer, format: Mp4OutputFormat | WebMOutputFormat): Promise<Buffer> {
  const reader = new Input({ source: new BufferSource(Uint8Array.from(sound)), formats: ALL_FORMATS });
  try {
    const target = new BufferTarget();
    await (await Conversion.init({ input: reader, output: new Output({ format, target }) })).execute();
    assert.ok(target.buffer);
    return Buffer.from(target.buffer);
  } finally {
    reader.dispose();
  }
}

describe('the contract of audio, validation documented', () => {
  let running: SimulatedWeir;
  let sounds: Readonly<Record<string, Buffer>>;

  before(async () => {
    running = await startSimulatedWeir({ models, config: { validation: 'documented' } });
    const [mp3, ogg, aac, flac, wav] = await Promise.all(
      ['mp3', 'opus', 'aac', 'flac', 'wav'].map(async (response_format) => (await speak({ ...usual, response_format })).bytes),
    );
    assert.ok(mp3 && ogg && aac && flac && wav);
    const [mp4, webm] = await Promise.all([repack(aac, new Mp4OutputFormat()), repack(ogg, new WebMOutputFormat())]);
    sounds = { flac, mp3, mp4, mpeg: mp3, mpga: mp3, m4a: mp4, ogg, wav, webm };
  });
  after(() => running[Symbol.asyncDispose]());

  const speak = async (body: unknown, key: string | undefined = running.weir.apiKey) => {
    const answer = await fetch(`${running.weir.gatewayUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
    });
    return { status: answer.status, type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

  const send = async (path: string, fields: Fields, { name = 'a.wav', key = running.weir.apiKey } = {}) => {
    const form = new FormData();
    const sound = sounds[name.split('.').at(-1) ?? ''];
    if (name !== '') form.set('file', new Blob([Uint8Array.from(sound ?? Buffer.from('no sound'))]), name);
    for (const [field, value] of Object.entries({ model: 'whisper-1', ...fields }))
      for (const each of typeof value === 'string' ? [value] : (value ?? [])) form.append(field, each);
    const headers: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` };
    const answer = await fetch(`${running.weir.gatewayUrl}/v1/audio/${path}`, { method: 'POST', headers, body: form });
    return { status: answer.status, type: String(answer.headers.get('content-type')), text: await answer.text() };
  };

  const assertRefused = (text: string, param: string): void => {
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    assert.deepEqual(Object.keys(error).toSorted(), ['code', 'message', 'param', 'type']);
    for (const value of Object.values(error)) assert.equal(typeof value, 'string');
    assert.equal(error['param'], param);
  };

  test('4.4 both models accept all voices, all formats, and the bounds of speed', async () => {
    const rows: readonly object[] = [
      { model: 'tts-1-hd' },
      { speed: 0.25 },
      { speed: 4 },
      { input: 'x'.repeat(4096), speed: 4 },
      ...voices.map((voice) => ({ voice })),
      ...speechFormats.map((response_format) => ({ response_format })),
    ];
    for (const row of rows) {
      const { status, type, bytes } = await speak({ ...usual, ...row });
      assert.equal(status, 200, `${JSON.stringify(row).slice(0, 100)} ${bytes.toString().slice(0, 300)}`);
      assert.match(String(type), /^audio\//);
      assert.ok(bytes.length > 1000);
    }
    assert.equal((await speak(usual)).type, 'audio/mpeg');
  });

  for (const [name, change, param] of [
    ['no model', { model: undefined }, 'model'],
    ['no input', { input: undefined }, 'input'],
    ['4097 characters', { input: 'x'.repeat(4097) }, 'input'],
    ['no voice', { voice: undefined }, 'voice'],
    ['an unknown voice', { voice: 'coral' }, 'voice'],
    ['an unknown format', { response_format: 'ogg' }, 'response_format'],
    ['speed 0.2', { speed: 0.2 }, 'speed'],
    ['speed 4.1', { speed: 4.1 }, 'speed'],
  ] as const)
    test(`4.4, 7, 8 ${name}: 400 names the field`, async () => {
      const { status, bytes } = await speak({ ...usual, ...change });
      assert.equal(status, 400);
      assertRefused(bytes.toString(), param);
    });

  test('4.5, 4.6 all nine formats of a file are accepted', async () => {
    for (const extension of ['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm'])
      for (const path of ['transcriptions', 'translations']) {
        const { status, text } = await send(path, {}, { name: `a.${extension}` });
        assert.equal(status, 200, `${extension} ${text}`);
        assert.equal(typeof (JSON.parse(text) as { text: unknown }).text, 'string');
      }
  });

  test('4.5, 4.6 all five forms of an answer, and all fields, are available', async () => {
    const fields = { language: 'en', prompt: 'a kitchen', temperature: '0.5' };
    for (const path of ['transcriptions', 'translations'])
      for (const [response_format, type] of [
        ['json', /^application\/json/],
        ['text', /^text\/plain/],
        ['srt', /srt|text\/plain/],
        ['vtt', /vtt|text\/plain/],
      ] as const) {
        const { language, ...others } = fields;
        const answer = await send(path, { ...others, ...(path === 'translations' ? {} : { language }), response_format });
        assert.equal(answer.status, 200, `${path} ${response_format} ${answer.text}`);
        assert.match(answer.type, type);
      }
    for (const temperature of ['0', '1']) assert.equal((await send('transcriptions', { temperature })).status, 200);
  });

  test('4.5 verbose_json has every member of the table, with its type', async () => {
    const { status, text } = await send('transcriptions', {
      response_format: 'verbose_json',
      'timestamp_granularities[]': ['word', 'segment'],
    });
    assert.equal(status, 200, text);
    const { task, language, duration, text: words, segments } = JSON.parse(text) as Record<string, any>;
    assert.deepEqual([typeof task, typeof language, typeof duration, typeof words], ['string', 'string', 'number', 'string']);
    assert.ok(segments.length > 0);
    for (const segment of segments) {
      for (const member of ['id', 'seek']) assert.ok(Number.isInteger(segment[member]), member);
      for (const member of ['start', 'end', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'])
        assert.equal(typeof segment[member], 'number', member);
      assert.equal(typeof segment.text, 'string');
      assert.ok(segment.tokens.every(Number.isInteger));
    }
  });

  for (const [name, path, fields, file, param] of [
    ['no file', 'transcriptions', {}, '', 'file'],
    ['no model', 'transcriptions', { model: undefined }, 'a.wav', 'model'],
    ['an unknown form', 'transcriptions', { response_format: 'xml' }, 'a.wav', 'response_format'],
    ['temperature 1.1', 'transcriptions', { temperature: '1.1' }, 'a.wav', 'temperature'],
    ['temperature -0.1', 'translations', { temperature: '-0.1' }, 'a.wav', 'temperature'],
    ['another granularity', 'transcriptions', { 'timestamp_granularities[]': 'letter' }, 'a.wav', 'timestamp_granularities'],
    ['an invalid language', 'transcriptions', { language: 'english' }, 'a.wav', 'language'],
    ['a file of another kind', 'translations', {}, 'a.txt', 'file'],
    ['no model for a translation', 'translations', { model: undefined }, 'a.wav', 'model'],
  ] as const)
    test(`4.5, 4.6, 7, 8 ${name}: 400 names the field`, async () => {
      const { status, text } = await send(path, fields, { name: file });
      assert.equal(status, 400, text);
      assertRefused(text, param);
    });

  test('5, 7 no key and a wrong one: 401 in the same format', async () => {
    for (const key of ['', 'sk-wrong']) {
      const spoken = await speak(usual, key);
      for (const { status, text } of [
        { status: spoken.status, text: spoken.bytes.toString() },
        await send('transcriptions', {}, { key }),
        await send('translations', {}, { key }),
      ]) {
        assert.equal(status, 401);
        const { error } = JSON.parse(text) as { error: Record<string, unknown> };
        for (const value of Object.values(error)) assert.equal(typeof value, 'string');
      }
    }
  });

  test('2.3, 4.7 the statistics: characters are prompt tokens, audio has none; both have their amounts', async () => {
    const { monitorUrl, billingToken, gatewayUrl, apiKey } = running.weir;
    const nowSeconds = Math.floor(Date.now() / 1000);
    const recordsOf = async (modelName: string): Promise<Record<string, number>> => {
      const question = { type: 3, startTime: nowSeconds - 3600, endTime: nowSeconds + 3600, modelName };
      const answer: Answer = await post(`${monitorUrl}/bill/stats`, question, { token: billingToken });
      const sum: Record<string, number> = { callCount: 0, totalPromptTokens: 0, totalCompletionTokens: 0, totalAmount: 0 };
      for (const record of answer.json.data) for (const name of Object.keys(sum)) sum[name] = (sum[name] ?? 0) + record[name];
      return sum;
    };
    const headers = { authorization: `Bearer ${apiKey}` };
    assert.equal(
      (await post(`${gatewayUrl}/v1/audio/speech`, { ...usual, model: 'tts-1-hd', input: '👋'.repeat(50) }, headers)).status,
      200,
    );
    const spoken = await eventually(
      () => recordsOf('tts-1-hd'),
      ({ callCount }) => callCount === 2,
    );
    // $30 for a million characters; the first call of this model was that of the voices' test.
    const characters = input.length + 50;
    assert.deepEqual([spoken['totalPromptTokens'], spoken['totalCompletionTokens']], [characters, 0]);
    assert.ok(Math.abs((spoken['totalAmount'] ?? 0) - characters * 0.00003) < 1e-9, String(spoken['totalAmount']));
    const heard = await eventually(
      () => recordsOf('whisper-1'),
      ({ callCount = 0 }) => callCount >= 29,
    );
    assert.deepEqual([heard['totalPromptTokens'], heard['totalCompletionTokens']], [0, 0]);
    // Each is charged by whole seconds at $0.006 a minute.
    const seconds = (heard['totalAmount'] ?? 0) / 0.0001;
    assert.ok(seconds >= 29 && Math.abs(seconds - Math.round(seconds)) < 1e-6, String(seconds));
  });
});
