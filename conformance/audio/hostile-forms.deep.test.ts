import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { eventually, rawExchange } from '../support/http.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { type AudioWeir, startAudioProgram } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';

const boundary = 'b0undary';
const usualType = `multipart/form-data; boundary=${boundary}`;
const field = (name: string, value: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const filePart = (disposition: string, file: Buffer, type = 'audio/wav'): Buffer =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; ${disposition}\r\ncontent-type: ${type}\r\n\r\n`),
    file,
    Buffer.from('\r\n'),
  ]);
const end = `--${boundary}--\r\n`;
const bytesOf = (...parts: (string | Buffer)[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part)));
const usual = bytesOf(filePart('filename="a.wav"', makeWav(1)), field('model', 'whisper-1'), end);

describe('hostile forms', () => {
  let running: AudioWeir<RunningWeir>;
  const openFiles = (): number => readdirSync(`/proc/${running.weir.process.pid}/fd`).length;
  const head = (length: number, type = usualType): string =>
    `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.weir.apiKey}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;
  /** The status of the answer, and how long it took. */
  const send = async (body: Buffer, type?: string): Promise<{ status: number; ms: number; text: string }> => {
    const startedMs = performance.now();
    const answered = (text: string): boolean => /\r\n\r\n[^]*\}\s*$/.test(text);
    const text = await rawExchange(running.weir.gatewayUrl, bytesOf(head(body.length, type), body), { until: answered });
    return { status: Number(text.slice(9, 12)), ms: performance.now() - startedMs, text };
  };

  before(async () => {
    running = await startAudioProgram((_, response) => sendJson(response, 200, { text: 'Hello.' }));
  });
  after(() => running[Symbol.asyncDispose]());

  const many = (count: number, make: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => make(index)).join('');
  const refused: readonly (readonly [string, Buffer, number, string?])[] = [
    ['an empty file', bytesOf(filePart('filename="a.wav"', Buffer.alloc(0)), field('model', 'whisper-1'), end), 400],
    [
      '10,000 fields',
      bytesOf(
        many(10_000, (index) => field(`f${index}`, 'x')),
        usual,
      ),
      400,
    ],
    ['10,000 files', bytesOf(...Array.from({ length: 10_000 }, () => filePart('filename="a.wav"', makeWav(0.001))), end), 400],
    ['a part header of a megabyte', bytesOf(filePart(`filename="${'x'.repeat(1_000_000)}.wav"`, makeWav(1)), end), 400],
    ['100,000 headers of a part', bytesOf(`--${boundary}\r\n`, 'x: y\r\n'.repeat(100_000), '\r\n\r\n', end), 400],
    ['a boundary that never comes', Buffer.alloc(2_000_000, 'x'), 400],
    ['a boundary that almost comes, again and again', bytesOf(`--${boundary}`.slice(0, -1).repeat(200_000)), 400],
    ['a form that ends within its file', usual.subarray(0, 2000), 400],
    ['a form with only its end', Buffer.from(end), 400],
    ['an empty boundary', usual, 400, 'multipart/form-data; boundary='],
    ['no boundary', usual, 415, 'multipart/form-data'],
    ['a boundary of thousands of quotes', usual, 400, `multipart/form-data; boundary="${'\\"'.repeat(5000)}"`],
    [
      'a file name with a line break',
      bytesOf(filePart("filename*=UTF-8''a%0D%0Ax-evil:%201.wav", makeWav(1)), field('model', 'whisper-1'), end),
      400,
    ],
    ['another form', usual, 415, 'application/x-www-form-urlencoded'],
  ];
  for (const [name, body, status, type] of refused)
    test(`${name}: refused at once, and nothing reaches the upstream`, async () => {
      const seen = running.upstream.calls.length;
      const answer = await send(body, type);
      assert.ok(answer.status === status || (answer.status === 415 && status === 400), `${answer.status}: ${answer.text.slice(-300)}`);
      // The gateway did not wait: a body that arrives slowly has ten seconds.
      assert.ok(answer.ms < 9000, `it took ${answer.ms} ms`);
      assert.equal(running.upstream.calls.length, seen);
    });

  for (const [name, disposition, expected] of [
    ['quotes', 'filename="a\\"b\\".wav"', /^a.*b.*\.wav$/],
    ['NUL and a bell, percent-encoded', "filename*=UTF-8''%C3%A4%00%07.wav", /^ä\.wav$/],
    ['a path', 'filename="../../etc/passwd.wav"', /^passwd\.wav$/],
    ['a Windows path', 'filename="C:\\\\windows\\\\a.wav"', /^a\.wav$/],
    ['ten thousand characters', `filename="${'n'.repeat(10_000)}.wav"`, /^n{251}\.wav$/],
    ['right-to-left marks', 'filename="a\u202Evaw.wav"', /^avaw\.wav$/],
  ] as const)
    test(`a file name with ${name} is passed on without its dangerous characters`, async () => {
      const answer = await send(bytesOf(filePart(disposition, makeWav(1)), field('model', 'whisper-1'), end));
      assert.equal(answer.status, 200, answer.text);
      const { parts, body } = running.upstream.calls.at(-1) ?? {};
      assert.match(parts?.[0]?.filename ?? '', expected);
      assert.deepEqual(
        parts?.map(({ name: part }) => part),
        ['file', 'model'],
      );
      assert.ok(!/\nx-evil/i.test(body?.toString('latin1') ?? ''));
    });

  test('fields whose names and values imitate parts stay fields', async () => {
    const evil = `x\r\n--other\r\ncontent-disposition: form-data; name="model"\r\n\r\ntts-1`;
    const answer = await send(
      bytesOf(filePart('filename="a.wav"', makeWav(1)), field('prompt', evil), field('model', 'whisper-1'), field('__proto__', '1'), end),
    );
    assert.equal(answer.status, 200, answer.text);
    const parts = running.upstream.calls.at(-1)?.parts ?? [];
    assert.deepEqual(
      parts.map(({ name }) => name),
      ['file', 'prompt', 'model', '__proto__'],
    );
    assert.equal(parts[1]?.value, evil);
  });

  test('the rest of a refused upload is read for a limited time, and the client can read the answer', async () => {
    const total = 25_000_000;
    const { hostname, port } = new URL(running.weir.gatewayUrl);
    const socket: Socket = connect(Number(port), hostname);
    let text = '';
    let sent = 0;
    socket.on('error', () => {});
    socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
    // The upload may end with an error: the gateway did not read the rest.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(head(total, 'text/plain'));
    const piece = Buffer.alloc(65_536);
    const push = (): void => {
      while (!socket.destroyed && sent < total) {
        sent += piece.length;
        if (!socket.write(piece)) return void socket.once('drain', push);
      }
    };
    push();
    const startedMs = performance.now();
    await closed;
    assert.match(text, /^HTTP\/1\.1 415 [^]*unsupported_media_type/);
    assert.ok(sent < total, `${sent} bytes were read`);
    // Five seconds of reading and two for the client to read the answer; an idle connection would stay open for over a
    // minute.
    assert.ok(performance.now() - startedMs < 30_000);
  });

  test('a form with a Content-Length above the limit is refused before it is sent', async () => {
    const text = await rawExchange(running.weir.gatewayUrl, head(1_000_000_000), { until: (seen) => seen.includes('}}') });
    assert.match(text, /^HTTP\/1\.1 413 [^]*Maximum content size limit \(26214400\) exceeded/);
  });

  test('a form that arrives slowly is answered with 408, and no hostile form leaves anything behind', async () => {
    const before = openFiles();
    const dripping = Array.from({ length: 20 }, () =>
      rawExchange(running.weir.gatewayUrl, bytesOf(head(10_000_000), usual.subarray(0, 5000), Buffer.alloc(600_000)), {
        until: (seen) => seen.includes('}}'),
        limitMs: 60_000,
      }),
    );
    await eventually(
      () => openFiles(),
      (count) => count >= before + 30,
    );
    for (const text of await Promise.all(dripping)) assert.match(text, /^HTTP\/1\.1 408 /);
    await eventually(
      () => openFiles(),
      (count) => count <= before,
    );
    assert.equal((await send(usual)).status, 200);
  });
});
