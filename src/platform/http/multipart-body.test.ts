import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';

import { Busboy } from '@fastify/busboy';

import { encodeMultipart, type MultipartPart } from './multipart-body.ts';
import { createUpstreamClient, type StreamedBody } from './upstream-client.ts';

async function* piecesOf(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) {
    await Promise.resolve();
    yield content.subarray(at, at + size);
  }
}

const streamed = (content: Buffer, bytes = content.length): StreamedBody => ({ bytes, read: () => piecesOf(content, 10_000) });

async function readWhole({ read }: StreamedBody): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('forms', () => {
  test('parts keep their order, their names and their bytes, and the length is right', async () => {
    const content = Buffer.from('\r\n--weir-\0\xff', 'latin1');
    const parts: readonly MultipartPart[] = [
      { name: 'model', value: 'é' },
      { name: 'file', filename: 'a "quoted"\r\nname 日本.wav', type: 'audio/wav\r\nx: y', content: streamed(content) },
      { name: 'list[]', value: '' },
    ];
    const { contentType, body } = encodeMultipart(parts);
    const whole = await readWhole(body);
    assert.equal(whole.length, body.bytes);
    const seen: unknown[] = [];
    const parser = new Busboy({ headers: { 'content-type': contentType } });
    parser.on('field', (name, value) => void seen.push([name, value]));
    parser.on('file', (name, stream, filename, _encoding, type) => {
      stream.on('data', (piece: Buffer) => void seen.push([name, filename, type, piece]));
    });
    parser.end(whole);
    await once(parser, 'finish');
    assert.deepEqual(seen, [
      ['model', 'é'],
      ['file', 'a %22quoted%22%0D%0Aname 日本.wav', 'application/octet-stream', content],
      ['list[]', ''],
    ]);
  });
});

describe('bodies that are read while they are sent', () => {
  async function send(body: StreamedBody, isEarly = false) {
    const server = createServer((request, response) => {
      let received = 0;
      if (isEarly) return void response.writeHead(413, { 'content-type': 'text/plain' }).end('no');
      request.on('data', (piece: Buffer) => (received += piece.length));
      request.on('end', () => response.end(String(received)));
      request.on('error', () => {});
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createUpstreamClient({ origin, connectTimeoutMs: 20_000, headerBytesMax: 16_384 });
    const outcomes = [];
    try {
      for (const sent of [{ streamedBody: body, body: undefined }, { body: Buffer.from('12345') }]) {
        const { promise, resolve } = Promise.withResolvers<string>();
        let text = '';
        client.send(
          { path: '/', method: 'POST', headers: {}, ...sent },
          {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: (_, piece) => (text += piece.toString()),
            onResponseEnd: () => resolve(text),
            onResponseError: (_, error) => resolve(`failed: ${'code' in error ? String(error.code) : error.message}`),
          },
        );
        outcomes.push(await promise);
      }
    } finally {
      server.closeAllConnections();
      await client.close();
      server.close();
    }
    return outcomes;
  }

  test('the whole body arrives, and the next request is served', async () => {
    assert.deepEqual(await send(streamed(Buffer.alloc(5_000_000, 1))), ['5000000', '5']);
  });

  test('an answer that comes before the end of the body is received', async () => {
    const [first] = await send(streamed(Buffer.alloc(200_000, 1)), true);
    assert.equal(first, 'no');
  });

  for (const [name, declared] of [
    ['longer', 99_999],
    ['shorter', 100_001],
  ] as const)
    test(`a body that is ${name} than declared fails its call and no other`, async () => {
      assert.deepEqual(await send(streamed(Buffer.alloc(100_000), declared)), ['failed: BODY_LENGTH_MISMATCH', '5']);
    });

  test('a body that cannot be read fails its call and no other', async () => {
    const broken: StreamedBody = {
      bytes: 100,
      // oxlint-disable-next-line require-yield
      read: async function* () {
        await Promise.resolve();
        throw new Error('gone');
      },
    };
    assert.deepEqual(await send(broken), ['failed: gone', '5']);
  });
});
