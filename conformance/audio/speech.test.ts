import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { APIError } from 'openai';

import { call, eventually } from '../support/http.ts';
import { type AudioWeir, audioKey, startAudioWeir } from './audio-weir.ts';
import { sendJson } from './start-audio-upstream.ts';

const formats = { mp3: 'audio/mpeg', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac', wav: 'audio/wav', pcm: 'audio/pcm' } as const;
const sound = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 251));

describe('speech', () => {
  let running: AudioWeir;
  let rowsSoFar = 0;
  const nextRow = async () => {
    rowsSoFar += 1;
    const rows = await running.rows(rowsSoFar);
    assert.equal(rows.length, rowsSoFar, 'one row per call');
    return rows.at(-1);
  };
  const speak = (body: object) =>
    call(`${running.weir.gatewayUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const usual = { model: 'tts-1', input: 'Hi 👋', voice: 'alloy' };

  before(async () => {
    running = await startAudioWeir(
      (_, response) => void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(sound),
    );
  });
  after(() => running[Symbol.asyncDispose]());

  for (const [format, type] of Object.entries(formats) as [keyof typeof formats, string][]) {
    test(`${format}: the SDK gets the audio byte for byte with its content type, and code points are counted`, async () => {
      const reply = await running.client.audio.speech.create({ model: 'tts-1', input: 'Hi 👋', voice: 'alloy', response_format: format });
      assert.equal(reply.headers.get('content-type'), type);
      assert.ok(Buffer.from(await reply.arrayBuffer()).equals(sound));
      const row = await nextRow();
      assert.deepEqual([row?.end, row?.usage, row?.estimated], ['finished', { inputCharacters: 4 }, false]);
    });
  }

  test('new fields of the vendor pass unchanged, and so does the whole body if the model keeps its name', async () => {
    const body = { ...usual, voice: { id: 'voice_1' }, speed: 4.0, odd_field: { deep: [1] } };
    assert.equal((await speak(body)).status, 200);
    assert.equal(running.upstream.calls.at(-1)?.body.toString(), JSON.stringify(body));
    assert.equal(running.upstream.calls.at(-1)?.headers.authorization, `Bearer ${audioKey}`);
    await nextRow();
  });

  test('a self-hosted server gets its own model name and its own voices', async () => {
    assert.equal((await speak({ ...usual, model: 'own-voice', voice: 'af_bella+af_sky' })).status, 200);
    const seen = JSON.parse(running.second.calls.at(-1)?.body.toString() ?? '') as Record<string, unknown>;
    assert.deepEqual([seen['model'], seen['voice']], ['kokoro', 'af_bella+af_sky']);
    await nextRow();
  });

  for (const [name, body, param, code] of [
    ['no model', { input: 'x', voice: 'alloy' }, 'model', 'missing_required_parameter'],
    ['no input', { model: 'tts-1', voice: 'alloy' }, 'input', 'missing_required_parameter'],
    ['an empty input', { ...usual, input: '' }, 'input', 'empty_string'],
    ['4097 characters', { ...usual, input: 'é'.repeat(4097) }, 'input', 'string_above_max_length'],
    ['no voice', { model: 'tts-1', input: 'x' }, 'voice', 'missing_required_parameter'],
    ['an empty voice', { ...usual, voice: '' }, 'voice', 'invalid_value'],
    ['an unknown format', { ...usual, response_format: 'midi' }, 'response_format', 'invalid_value'],
    ['a speed below a quarter', { ...usual, speed: 0.24 }, 'speed', 'decimal_below_min_value'],
    ['a speed above four', { ...usual, speed: 4.01 }, 'speed', 'decimal_above_max_value'],
    ['a speed as a string', { ...usual, speed: '1' }, 'speed', 'invalid_type'],
    ['a speed that is null', { ...usual, speed: null }, 'speed', 'invalid_type'],
    ['a format that is null', { ...usual, response_format: null }, 'response_format', 'invalid_type'],
    ['instructions that are null', { ...usual, instructions: null }, 'instructions', 'invalid_type'],
    ['events of a model without events', { ...usual, stream_format: 'sse' }, 'stream_format', 'unsupported_value'],
  ] as const) {
    test(`${name} is refused in the vendor's format with four string members`, async () => {
      const seen = running.upstream.calls.length;
      const reply = await speak(body);
      assert.equal(reply.status, 400);
      assert.equal(reply.headers['content-type'], 'application/json');
      const { error } = JSON.parse(reply.text) as { error: Record<string, string> };
      assert.deepEqual([error['param'], error['code'], error['type']], [param, code, 'invalid_request_error']);
      assert.equal(running.upstream.calls.length, seen, 'no money was spent');
    });
  }

  test('4096 characters beyond the basic plane count as 4096', async () => {
    assert.equal((await speak({ ...usual, input: '👋'.repeat(4096) })).status, 200);
    assert.deepEqual((await nextRow())?.usage, { inputCharacters: 4096 });
  });

  test('an unknown model, a missing key and an unknown path have the same error format', async () => {
    const url = `${running.weir.gatewayUrl}/v1/audio`;
    const json = { 'content-type': 'application/json' };
    const unknown = await speak({ ...usual, model: 'nobody-has-it' });
    const bare = await call(`${url}/speech`, { method: 'POST', headers: json, body: '{}' });
    const nowhere = await call(`${url}/nothing`, { method: 'POST', headers: json, body: '{}' });
    const odd = await call(`${url}/speech`, { method: 'POST', headers: { authorization: `Bearer ${running.weir.apiKey}` }, body: 'x' });
    assert.deepEqual([unknown.status, bare.status, nowhere.status, odd.status], [404, 401, 404, 415]);
    for (const reply of [unknown, bare, nowhere, odd]) {
      const { error } = JSON.parse(reply.text) as { error: Record<string, unknown> };
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
      for (const value of Object.values(error)) assert.equal(typeof value, 'string');
      assert.notEqual(error['code'], '');
    }
  });

  test("an upstream's refusal keeps its message, field and code, and is free", async () => {
    running.upstream.answer = (_, response) =>
      sendJson(response, 400, {
        error: { message: `bad voice, key ${audioKey}`, type: 'invalid_request_error', param: 'voice', code: 'voice_unknown' },
      });
    await assert.rejects(running.client.audio.speech.create({ model: 'tts-1', input: 'x', voice: 'nobody' }), (error: unknown) => {
      assert.ok(error instanceof APIError);
      assert.deepEqual([error.status, error.param, error.code], [400, 'voice', 'voice_unknown']);
      assert.ok(!error.message.includes(audioKey));
      return true;
    });
    const row = await nextRow();
    assert.deepEqual([row?.end, row?.usage, row?.charge.lines], ['failed', {}, []]);
  });

  test('a truncated reply breaks the connection, so that no client takes it for complete; it is in the books', async () => {
    let cut = (): void => {};
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(sound.subarray(0, 10_000));
      cut = () => void response.destroy();
    };
    // Only after the client has its head: the end of a connection may overtake data that was sent before it.
    const reply = await running.client.audio.speech.create({ model: 'tts-1', input: 'hello', voice: 'alloy' });
    cut();
    await assert.rejects(reply.arrayBuffer());
    const row = await nextRow();
    assert.deepEqual([row?.end, row?.usage, row?.errorCode], ['cut', { inputCharacters: 5 }, 'upstream_connection_error']);
  });

  test('a client that disconnects during a download stops the upstream and pays in full', async () => {
    const before = running.upstream.left;
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      const timer = setInterval(() => response.write(Buffer.alloc(1000)), 5);
      response.on('close', () => clearInterval(timer));
    };
    const leaving = new AbortController();
    const reply = await running.client.audio.speech.create({ model: 'tts-1', input: 'hello', voice: 'alloy' }, { signal: leaving.signal });
    await reply.body?.getReader().read();
    leaving.abort();
    const row = await nextRow();
    assert.deepEqual([row?.end, row?.usage], ['client-left', { inputCharacters: 5 }]);
    await eventually(
      () => running.upstream.left,
      (left) => left > before,
    );
  });

  test('a reply that is not audio is not delivered as audio', async () => {
    running.upstream.answer = (_, response) => sendJson(response, 200, { url: 'https://elsewhere.example/a.mp3' });
    assert.equal((await speak(usual)).status, 502);
    assert.equal((await nextRow())?.end, 'failed');
  });

  test('events pass unchanged, and the usage of the last one is counted', async () => {
    const events = [
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 12, output_tokens: 340, total_tokens: 352 } },
    ];
    const sent = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    running.upstream.answer = (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sent);
    const reply = await speak({ ...usual, model: 'gpt-4o-mini-tts', stream_format: 'sse' });
    assert.equal(reply.text, sent);
    assert.match(String(reply.headers['content-type']), /^text\/event-stream/);
    const row = await nextRow();
    assert.deepEqual(
      [row?.usage, row?.estimated],
      [{ inputCharacters: 4, inputTokens: 12, outputTokens: 340, outputAudioTokens: 340 }, false],
    );
  });

  test('a truncated event stream ends with an error that makes SDKs throw, and its tokens are estimated', async () => {
    running.upstream.answer = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n');
    const reply = await speak({ ...usual, model: 'gpt-4o-mini-tts', stream_format: 'sse' });
    assert.match(reply.text, /"audio":"AAAA"\}\n\ndata: \{"error":\{"message":"Upstream connection error/);
    const row = await nextRow();
    assert.deepEqual([row?.end, row?.estimated], ['cut', true]);
    assert.ok((row?.usage.outputTokens ?? 0) > 0 && (row?.usage.inputTokens ?? 0) > 0);
  });

  test('tokens of audio without usage are estimated, and the books mark the estimate', async () => {
    running.upstream.answer = (_, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound);
    assert.equal((await speak({ ...usual, model: 'gpt-4o-mini-tts', input: 'a'.repeat(150) })).status, 200);
    const row = await nextRow();
    assert.deepEqual([row?.estimated, row?.usage.outputTokens], [true, 209]);
  });
});
