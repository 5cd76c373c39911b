import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { type AudioWeir, startAudioWeir } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';
import { boundary, head, upload } from './upload-form.ts';

const uploadBytesMax = 26_214_400;

describe('uploads', () => {
  let running: AudioWeir;
  const spooled = (): readonly string[] => readdirSync(join(running.weir.dataDirectory, 'uploads'));

  before(async () => {
    running = await startAudioWeir((_, response) => sendJson(response, 200, { text: 'Hello.' }));
  });
  after(() => running[Symbol.asyncDispose]());

  test('25 MiB are accepted, byte for byte; one more byte is a 413 in the vendor’s format, and nothing reaches the upstream', async () => {
    const wav = Buffer.concat([makeWav(1), Buffer.alloc(uploadBytesMax)]).subarray(0, uploadBytesMax);
    const taken = await upload(running, wav);
    assert.deepEqual([taken.status, taken.json.text], [200, 'Hello.']);
    const seen = running.upstream.calls.at(-1);
    assert.equal(seen?.parts[0]?.bytes, uploadBytesMax);
    assert.ok(seen?.body.includes(wav.subarray(0, 100_000)));
    const refused = await upload(running, Buffer.concat([wav, Buffer.alloc(1)]));
    assert.equal(refused.status, 413);
    assert.match(refused.json.error.message, /^Maximum content size limit \(26214400\) exceeded \(\d+ bytes read\)$/);
    assert.equal(refused.json.error.param, 'file');
    assert.equal(running.upstream.calls.length, 1);
    assert.deepEqual(spooled(), []);
  });

  test('a client that disconnects during the upload leaves nothing: no file, no call, no row', async () => {
    const seen = running.upstream.calls.length;
    const url = new URL(running.weir.gatewayUrl);
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => {});
    socket.write(
      `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.weir.apiKey}\r\ncontent-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: 20000000\r\n\r\n`,
    );
    socket.write(head());
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(2_000_000, 1), () => resolve()));
    socket.destroy();
    assert.equal((await upload(running, makeWav(1))).status, 200);
    assert.equal(running.upstream.calls.length, seen + 1);
    // The gateway notices a disconnected client at its next read.
    await eventually(
      () => Promise.resolve(spooled()),
      ({ length }) => length === 0,
    );
  });

  test('an upload is stored for a second attempt: if the first target does not answer, the next one gets it, and the call is charged once', async () => {
    running.upstream.answer = (_, response) => sendJson(response, 500, { error: { message: 'broken' } });
    const wav = makeWav(20);
    const reply = await upload(running, wav, 'two-targets');
    assert.deepEqual([reply.status, reply.json.text], [200, 'Hello.']);
    assert.equal(running.second.calls.at(-1)?.parts[0]?.bytes, wav.length);
    const row = (
      await eventually(
        () => running.rows(1),
        (rows) => rows.some(({ upstream }) => upstream === 'server'),
      )
    ).find(({ upstream }) => upstream === 'server');
    assert.deepEqual([row?.end, row?.usage, row?.failedAttempts?.length], ['finished', { inputAudioMs: 20_000 }, 1]);
    running.upstream.answer = (_, response) => sendJson(response, 200, { text: 'Hello.' });
  });

  test('a refusal before the whole form was read is noticed, and a 429 keeps its retry-after', async () => {
    running.upstream.early = (request, response) => {
      const body = JSON.stringify({ error: { message: 'slow down', code: 'rate_limit_exceeded' } });
      const headers = { 'content-type': 'application/json', 'content-length': body.length, 'retry-after': '60', connection: 'close' };
      response.writeHead(429, headers).write(body);
      // If a server closes a socket with unread bytes, TCP discards its answer: a correct server waits until its client
      // has stopped.
      request.resume();
      request.on('close', () => response.end());
      return true;
    };
    const reply = await upload(running, makeWav(200));
    running.upstream.early = undefined;
    assert.equal(reply.status, 429, JSON.stringify(reply.json));
    assert.deepEqual([reply.json.error.message, reply.json.error.code], ['slow down', 'rate_limit_exceeded']);
  });
});
