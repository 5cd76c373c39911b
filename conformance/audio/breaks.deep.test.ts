import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { toFile } from 'openai';

import { call, eventually } from '../support/http.ts';
import { residentBytes } from '../support/process-memory.ts';
import { readJournal } from '../support/read-files.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { type AudioWeir, readRows, startAudioProgram } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';

/** Open files of a process that have been unlinked. */
function namelessUploads(pid: number | undefined): number {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.includes('/uploads/upload-')).length;
}

describe('calls with a slow upstream or a slow client', () => {
  let running: AudioWeir<RunningWeir>;
  const speak = (options: { readonly model?: string } = {}) =>
    call(`${running.weir.gatewayUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: options.model ?? 'tts-1', input: 'hello', voice: 'alloy' }),
    });
  const lastRow = async (count: number) => (await running.rows(count)).at(-1);

  before(async () => {
    running = await startAudioProgram((_, response) => sendJson(response, 200, { text: 'Hello.' }), {
      config: { timeouts: { firstByteMs: 2500, idleMs: 2500, stalledReaderMs: 700 }, retries: { attemptsMax: 1, avoidFailing: false } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a silent upstream times out, and the call is free', async () => {
    running.upstream.answer = () => {};
    const reply = await speak();
    assert.deepEqual([reply.status, reply.json.error.code], [504, 'upstream_timeout']);
    const row = await lastRow(1);
    assert.deepEqual([row?.end, row?.charge.lines, row?.usage], ['failed', [], {}]);
  });

  test('an upstream that sends only a head fails before anything was delivered: the call is free, and the client gets a status', async () => {
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.flushHeaders();
    };
    assert.equal((await speak()).status, 504);
    assert.equal((await lastRow(2))?.end, 'failed');
  });

  test("an upstream that stalls in the middle of a reply makes the gateway cut the client's connection", async () => {
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(Buffer.alloc(5000));
    };
    await assert.rejects(speak());
    const row = await lastRow(3);
    assert.deepEqual([row?.end, row?.errorCode, row?.usage], ['cut', 'upstream_timeout', { inputCharacters: 5 }]);
  });

  test('a client that stalls causes back-pressure at the upstream instead of memory growth, and is disconnected', async () => {
    let sent = 0;
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' });
      const push = (): void => {
        while (!response.destroyed && sent < 200_000_000) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', push);
        }
      };
      push();
    };
    const before = residentBytes(running.weir.process.pid) ?? 0;
    const url = new URL(running.weir.gatewayUrl);
    const socket: Socket = connect(Number(url.port), url.hostname);
    const body = JSON.stringify({ model: 'tts-1', input: 'hello', voice: 'alloy' });
    socket.write(
      `POST /v1/audio/speech HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${running.weir.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    const row = await lastRow(4);
    socket.destroy();
    assert.deepEqual([row?.end, row?.usage], ['client-left', { inputCharacters: 5 }]);
    assert.ok(sent < 60_000_000, `${sent} bytes were read from the upstream`);
    assert.ok((residentBytes(running.weir.process.pid) ?? 0) - before < 100_000_000);
  });
});

describe('calls that fail', () => {
  let running: AudioWeir<RunningWeir>;
  const lastRow = async (count: number) => (await running.rows(count)).at(-1);
  before(async () => {
    running = await startAudioProgram((_, response) => sendJson(response, 200, { text: 'Hello.' }), {
      config: { retries: { attemptsMax: 1, avoidFailing: false } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a client that disconnects during the upload or the transcription leaves no open file', async () => {
    running.upstream.answer = () => {};
    const leaving = new AbortController();
    const file = await toFile(makeWav(60), 'a.wav');
    const asked = running.client.audio.transcriptions.create({ model: 'whisper-1', file }, { signal: leaving.signal });
    const seen = running.upstream.calls.length;
    await eventually(
      () => running.upstream.calls.length,
      (calls) => calls > seen,
    );
    assert.equal(namelessUploads(running.weir.process.pid), 1);
    leaving.abort();
    await assert.rejects(asked);
    assert.equal((await lastRow(1))?.end, 'failed');
    await eventually(
      () => namelessUploads(running.weir.process.pid),
      (open) => open === 0,
    );
  });

  test('an upstream whose transcript is truncated delivered nothing: the client gets an error, and the call is free', async () => {
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"text":"Hel', () => response.destroy());
    };
    const file = await toFile(makeWav(1), 'a.wav');
    await assert.rejects(
      running.client.audio.transcriptions.create({ model: 'whisper-1', file }),
      (error: { status?: number }) => error.status === 503,
    );
    assert.deepEqual([(await lastRow(2))?.end, (await lastRow(2))?.usage], ['failed', {}]);
  });

  test('a header with a false length changes nothing: the samples are counted', async () => {
    running.upstream.answer = (_, response) => sendJson(response, 200, { text: 'Hello.' });
    const wav = makeWav(7.2);
    wav.writeUInt32LE(0xffffffff, 40);
    wav.writeUInt32LE(0xffffffff, 4);
    await running.client.audio.transcriptions.create({ model: 'whisper-1', file: await toFile(wav, 'a.wav') });
    const row = await lastRow(3);
    assert.deepEqual([row?.usage, row?.estimated], [{ inputAudioMs: 8000 }, false]);
  });

  test('a file that cannot be read is charged by an estimate, which the books mark as such', async () => {
    const broken = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(80_000)]);
    await running.client.audio.transcriptions.create({ model: 'whisper-1', file: await toFile(broken, 'a.ogg') });
    const row = await lastRow(4);
    assert.deepEqual([row?.usage, row?.estimated], [{ inputAudioMs: 11_000 }, true]);
  });

  test('a killed process leaves no upload, and the next process books what the upstream had answered', async () => {
    running.upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      const timer = setInterval(() => response.write(Buffer.alloc(1000)), 20);
      response.on('close', () => clearInterval(timer));
    };
    const reply = await running.client.audio.speech.create({ model: 'tts-1', input: 'hello', voice: 'alloy' });
    await reply.body?.getReader().read();
    const { dataDirectory } = running.weir;
    // The answer is recorded a moment after the client begins to receive it.
    const measured = new RegExp(`"callId":"${reply.headers.get('x-weir-request-id')}",(?:"attempt":\\d+,)?"usage"`);
    await eventually(
      () => readJournal(dataDirectory),
      (journal) => measured.test(journal),
    );
    await running.weir.stop('SIGKILL');
    assert.deepEqual(readdirSync(`${dataDirectory}/uploads`), []);
    const next = await startWeir({ dataDirectory });
    try {
      const row = (
        await eventually(
          () => readRows(dataDirectory),
          (rows) => rows.length === 5,
        )
      ).at(-1);
      assert.deepEqual([row?.end, row?.usage.inputCharacters, row?.estimated], ['lost', 5, false]);
    } finally {
      await next.stop('SIGKILL');
    }
  });
});
