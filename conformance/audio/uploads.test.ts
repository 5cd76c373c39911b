import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { residentBytes } from '../support/process-memory.ts';
import { type AudioWeir, startAudioWeir } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';

const boundary = 'b0undary';
const uploadBytesMax = 26_214_400;

function head(extra = 'a.wav'): Buffer {
  return Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${extra}"\r\ncontent-type: audio/wav\r\n\r\n`,
  );
}
const tail = Buffer.from(`\r\n--${boundary}\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--${boundary}--\r\n`);

type Sent = { readonly status: number; readonly json: any };

/** Sends a form whose file comes before its model. */
function upload({ weir }: AudioWeir, file: Buffer, model = 'whisper-1'): Promise<Sent> {
  const end = Buffer.from(tail.toString().replace('whisper-1', model));
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${weir.gatewayUrl}/v1/audio/transcriptions`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => void pieces.push(piece));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(pieces).toString()) }));
      },
    );
    request.on('error', reject);
    request.write(head());
    request.write(file);
    request.end(end);
  });
}

describe('uploads', () => {
  let running: AudioWeir;
  const spooled = (): readonly string[] => readdirSync(join(running.weir.dataDirectory, 'uploads'));

  before(async () => {
    running = await startAudioWeir((_, response) => sendJson(response, 200, { text: 'Hello.' }));
  });
  after(() => running[Symbol.asyncDispose]());

  test('25 MiB are taken, byte for byte; one byte more is 413 in the vendor’s words, and nothing is sent on', async () => {
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

  test('a client that leaves in the middle leaves nothing: no file, no call, no row', async () => {
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
    // That a client has left is noticed when its connection is read next.
    await eventually(
      () => Promise.resolve(spooled()),
      ({ length }) => length === 0,
    );
  });

  test('an upload waits for a second attempt: what the first target has not answered goes to the next, and is charged once', async () => {
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

  test('an upstream that refuses before it has read the whole form is heard, and 429 keeps its advice', async () => {
    running.upstream.early = (request, response) => {
      const body = JSON.stringify({ error: { message: 'slow down', code: 'rate_limit_exceeded' } });
      const headers = { 'content-type': 'application/json', 'content-length': body.length, 'retry-after': '60', connection: 'close' };
      response.writeHead(429, headers).write(body);
      // A server that closes with bytes unread takes back what it has said: a good one waits until its client has stopped.
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

test('200 uploads of 10 MB at once are not held in memory', async (context) => {
  // Memory is what is looked at: on a busy machine the gate would refuse some.
  const running = await startAudioWeir(() => {}, { config: { overload: { loopDelayMs: 10_000 } } });
  try {
    const { weir, upstream } = running;
    // It counts what comes and keeps nothing of it.
    let taken = 0;
    upstream.early = (request, response) => {
      request.on('data', (piece: Buffer) => (taken += piece.length));
      request.on('end', () => sendJson(response, 200, { text: 'Hello.', usage: { type: 'duration', seconds: 1 } }));
      return true;
    };
    const file = Buffer.concat([makeWav(1), Buffer.alloc(10_000_000)]);
    const wave = () => Promise.all(Array.from({ length: 50 }, () => upload(running, file)));
    await wave();
    const before = residentBytes(weir.process.pid);
    if (before === undefined) return context.skip('resident memory is not known here');
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes(weir.process.pid) ?? 0)), 20);
    const replies = await Promise.all(Array.from({ length: 200 }, () => upload(running, file)));
    clearInterval(watch);
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.ok(taken > 250 * file.length);
    const grownMb = Math.round((peak - before) / 1_000_000);
    context.diagnostic(`2 GB of uploads at once took ${grownMb} MB of memory`);
    assert.ok(grownMb < 300, `it grew by ${grownMb} MB`);
  } finally {
    await running[Symbol.asyncDispose]();
  }
});
