import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { toFile } from 'openai';

import { call } from '../support/http.ts';
import { type AudioWeir, startAudioWeir } from './audio-weir.ts';
import { makeWav, type SeenCall, sendJson } from './start-audio-upstream.ts';

const segment = {
  id: 0,
  seek: 0,
  start: 0,
  end: 3.319,
  text: ' The beach.',
  tokens: [50364],
  temperature: 0,
  avg_logprob: -0.28,
  compression_ratio: 1.2,
  no_speech_prob: 0.01,
};
const words = [{ word: 'The', start: 0, end: 0.24 }];
const usage = { type: 'duration', seconds: 4 };
const verbose = { task: 'transcribe', language: 'english', duration: 3.319, text: 'The beach.', segments: [segment], usage };
const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  json: ['application/json', JSON.stringify({ text: 'The beach.', usage })],
  text: ['text/plain; charset=utf-8', 'The beach.\n'],
  srt: ['text/plain; charset=utf-8', '1\n00:00:00,000 --> 00:00:03,319\nThe beach.\n\n'],
  vtt: ['text/plain; charset=utf-8', 'WEBVTT\n\n00:00:00.000 --> 00:00:03.319\nThe beach.\n\n'],
  verbose_json: ['application/json', JSON.stringify(verbose)],
};

const formatOf = ({ parts }: SeenCall): string => parts.find(({ name }) => name === 'response_format')?.value ?? 'json';

/** Answers as whisper-1 does. */
function answerWhisper(seen: SeenCall, response: Parameters<AudioWeir['upstream']['answer']>[1]): void {
  const [type, body] = bodies[formatOf(seen)] ?? ['', ''];
  response.writeHead(200, { 'content-type': type }).end(body);
}

/** A form with string fields and one file, in the order that a test chooses. */
export function writeForm(parts: readonly string[], boundary = 'b0undary'): Buffer {
  return Buffer.from(`${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`, 'latin1');
}

const field = (name: string, value: string): string => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`;
const wavText = makeWav(2.5).toString('latin1');
const file = (head = 'filename="a.wav"', type = '\r\ncontent-type: audio/wav'): string =>
  `content-disposition: form-data; name="file"; ${head}${type}\r\n\r\n${wavText}`;

describe('transcriptions and translations', () => {
  let running: AudioWeir;
  let rowsSoFar = 0;
  const nextRow = async () => {
    rowsSoFar += 1;
    const rows = await running.rows(rowsSoFar);
    assert.equal(rows.length, rowsSoFar, 'one row per call');
    return rows.at(-1);
  };
  const send = (parts: readonly string[], path = 'transcriptions', boundary = 'b0undary') =>
    call(`${running.weir.gatewayUrl}/v1/audio/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: writeForm(parts),
    });

  before(async () => {
    running = await startAudioWeir(answerWhisper);
  });
  after(() => running[Symbol.asyncDispose]());

  for (const [format, [type, body]] of Object.entries(bodies)) {
    test(`${format}: the client gets the upstream's bytes with the right content type; a duration that the upstream omits is measured and rounded up`, async () => {
      const reply = await send([field('model', 'whisper-1'), field('response_format', format), field('temperature', '0.2'), file()]);
      assert.deepEqual([reply.status, reply.headers['content-type'], reply.text], [200, type, body]);
      const row = await nextRow();
      const isReported = format === 'json' || format === 'verbose_json';
      assert.deepEqual([row?.end, row?.usage, row?.estimated], ['finished', { inputAudioMs: isReported ? 4000 : 3000 }, false]);
    });
  }

  test('the official SDK reads all five formats', async () => {
    const upload = () => toFile(makeWav(2.5), 'speech.wav');
    const { transcriptions, translations } = running.client.audio;
    assert.equal((await transcriptions.create({ model: 'whisper-1', file: await upload() })).text, 'The beach.');
    const detailed = await transcriptions.create({
      model: 'whisper-1',
      file: await upload(),
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    });
    assert.deepEqual([detailed.language, detailed.segments?.length], ['english', 1]);
    for (const response_format of ['text', 'srt', 'vtt'] as const)
      assert.equal(
        await transcriptions.create({ model: 'whisper-1', file: await upload(), response_format }),
        bodies[response_format]?.[1],
      );
    assert.equal((await translations.create({ model: 'whisper-1', file: await upload() })).text, 'The beach.');
    assert.equal(running.upstream.calls.at(-1)?.path, '/v1/audio/translations');
    rowsSoFar += 5;
    await nextRow();
  });

  test('a form is rebuilt field by field: order, unknown fields and a non-ASCII file name are preserved', async () => {
    const name = Buffer.from('Gespräch 日本.wav').toString('latin1');
    const parts = [field('odd', 'kept'), file(`filename="${name}"`), field('prompt', 'Straße'), field('model', 'renamed')];
    assert.equal((await send(parts)).status, 200);
    const seen = running.upstream.calls.at(-1);
    assert.deepEqual(seen?.parts, [
      { name: 'odd', value: 'kept' },
      { name: 'file', filename: 'Gespräch 日本.wav', type: 'audio/wav', bytes: 80_044 },
      { name: 'prompt', value: Buffer.from('Straße', 'latin1').toString() },
      { name: 'model', value: 'whisper-1' },
    ]);
    assert.equal(Number(seen?.headers['content-length']), seen?.body.length);
    await nextRow();
  });

  for (const [name, parts] of [
    ['with brackets', [field('timestamp_granularities[]', 'word'), field('timestamp_granularities[]', 'segment')]],
    ['without', [field('timestamp_granularities', 'word'), field('timestamp_granularities', 'segment')]],
    ['as a list in JSON', [field('timestamp_granularities', '["word","segment"]')]],
  ] as const) {
    test(`timestamps of words and segments, written ${name}, reach the upstream as SDKs write them`, async () => {
      running.upstream.answer = (_, response) => sendJson(response, 200, { ...verbose, words });
      const reply = await send([field('model', 'whisper-1'), field('response_format', 'verbose_json'), ...parts, file()]);
      assert.deepEqual([reply.json.words, reply.json.segments], [words, [segment]]);
      const asked = running.upstream.calls.at(-1)?.parts.filter((part) => part.name.startsWith('timestamp'));
      assert.deepEqual(
        asked?.map((part) => [part.name, part.value]),
        [
          ['timestamp_granularities[]', 'word'],
          ['timestamp_granularities[]', 'segment'],
        ],
      );
      running.upstream.answer = answerWhisper;
      await nextRow();
    });
  }

  test('a file whose part has no content type, as Python clients send it, is recognised by its content', async () => {
    const reply = await send([field('model', 'whisper-1'), file(undefined, '')]);
    assert.equal(reply.status, 200, reply.text);
    await nextRow();
  });

  for (const [name, parts, param] of [
    ['no file', [field('model', 'whisper-1')], 'file'],
    ['no model', [file()], 'model'],
    ['two files', [field('model', 'whisper-1'), file(), file()], 'file'],
    ['a file without a name', [field('model', 'whisper-1'), file('x="y"')], 'file'],
    [
      'a text file named .wav',
      [field('model', 'whisper-1'), 'content-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nhello'],
      'file',
    ],
    ['an extension that contradicts the content', [field('model', 'whisper-1'), file('filename="a.mp3"')], 'file'],
    ['a text', [field('model', 'whisper-1'), file(undefined, '\r\ncontent-type: text/plain')], 'file'],
    ['a language that is null', [field('model', 'whisper-1'), field('language', 'null'), file()], 'language'],
    ['a temperature that is null', [field('model', 'whisper-1'), field('temperature', 'null'), file()], 'temperature'],
    ['a declared type that contradicts the content', [field('model', 'whisper-1'), file(undefined, '\r\ncontent-type: image/png')], 'file'],
    ['an unknown extension', [field('model', 'whisper-1'), file('filename="a.exe"')], 'file'],
    ['two models', [field('model', 'whisper-1'), field('model', 'other'), file()], 'model'],
    ['an unknown form', [field('model', 'whisper-1'), field('response_format', 'xml'), file()], 'response_format'],
    ['a temperature above one', [field('model', 'whisper-1'), field('temperature', '1.1'), file()], 'temperature'],
    ['a temperature that is not a number', [field('model', 'whisper-1'), field('temperature', 'warm'), file()], 'temperature'],
    [
      'an unknown granularity',
      [field('model', 'whisper-1'), field('timestamp_granularities[]', 'letter'), file()],
      'timestamp_granularities',
    ],
    [
      'subtitles of a model without timestamps',
      [field('model', 'gpt-4o-transcribe'), field('response_format', 'srt'), file()],
      'response_format',
    ],
  ] as const) {
    test(`${name}: 400 names the field, and the call is free`, async () => {
      const seen = running.upstream.calls.length;
      const reply = await send(parts);
      assert.equal(reply.status, 400, reply.text);
      assert.equal(reply.json.error.param, param);
      for (const value of Object.values(reply.json.error)) assert.equal(typeof value, 'string');
      assert.equal(running.upstream.calls.length, seen);
    });
  }

  test('an undeclared type and application/octet-stream are accepted', async () => {
    for (const type of ['', '\r\ncontent-type: application/octet-stream'])
      assert.equal((await send([field('model', 'whisper-1'), file(undefined, type)])).status, 200);
    rowsSoFar += 1;
    await nextRow();
  });

  test('a form with a wrong boundary is refused', async () => {
    const reply = await send([field('model', 'whisper-1'), file()], 'transcriptions', 'another');
    assert.equal(reply.status, 400, reply.text);
    const json = await call(`${running.weir.gatewayUrl}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    assert.equal(json.status, 415);
  });

  test('the text of a model that only answers in JSON is extracted, and its reported tokens are counted', async () => {
    const tokens = {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 4, audio_tokens: 10 },
      output_tokens: 45,
      total_tokens: 59,
    };
    running.upstream.answer = (_, response) => sendJson(response, 200, { text: 'Hello.', usage: tokens });
    const reply = await send([field('model', 'gpt-4o-transcribe'), field('response_format', 'text'), file()]);
    assert.deepEqual([reply.text, reply.headers['content-type']], ['Hello.\n', 'text/plain; charset=utf-8']);
    assert.equal(formatOf(running.upstream.calls.at(-1) ?? ({ parts: [] } as never)), 'json');
    assert.deepEqual((await nextRow())?.usage, { inputTokens: 14, inputAudioTokens: 10, outputTokens: 45 });
    running.upstream.answer = answerWhisper;
  });

  test('events pass as they arrive, the SDK reads them, and their usage is counted', async () => {
    const events = [
      { type: 'transcript.text.delta', delta: 'Hel' },
      { type: 'transcript.text.delta', delta: 'lo.' },
      { type: 'transcript.text.done', text: 'Hello.', usage: { type: 'tokens', input_tokens: 14, output_tokens: 5, total_tokens: 19 } },
    ];
    running.upstream.answer = (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    const stream = await running.client.audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      file: await toFile(makeWav(1), 'a.wav'),
      stream: true,
    });
    const seen: unknown[] = [];
    for await (const event of stream) seen.push(event);
    assert.deepEqual(seen, events);
    assert.deepEqual((await nextRow())?.usage, { inputTokens: 14, outputTokens: 5 });
    running.upstream.answer = answerWhisper;
  });
});
