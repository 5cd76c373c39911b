import assert from 'node:assert/strict';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { DirectRequest } from './direct-request.ts';
import { contentCodings, decodeBody, readBody } from './read-body.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A request whose body arrives in these chunks. */
function send(chunks: readonly Buffer[], headers: Record<string, string> = {}): IncomingMessage {
  return Object.assign(Readable.from(chunks, { objectMode: false }), { headers }) as unknown as IncomingMessage;
}

describe('reading a body', () => {
  test('chunks become one buffer, byte for byte', async () => {
    const chunks = ['{"a":"gr', 'ü', 'n"}'].map((text) => Buffer.from(text));
    assert.equal((await readBody(send(chunks), 100)).toString(), '{"a":"grün"}');
    const only = Buffer.from('{}');
    assert.equal((await readBody(send([only]), 100)).toString(), '{}');
    assert.equal((await readBody(send([]), 100)).length, 0);
  });

  test('any number of one-byte chunks is joined, byte for byte', async () => {
    const body = Buffer.from(Array.from({ length: 10_001 }, (_, index) => index % 251));
    const chunks = Array.from(body, (_byte, index) => body.subarray(index, index + 1));
    assert.ok((await readBody(send(chunks), 20_000)).equals(body));
    await assert.rejects(readBody(send(chunks), 9000), { problem: 'too-large' });
  });

  test('a body with a declared length beyond the limit is refused before a byte is read', async () => {
    const request = send([Buffer.alloc(10)], { 'content-length': '11' });
    let reads = 0;
    request.on('newListener', (name) => (reads += name === 'data' ? 1 : 0));
    await assert.rejects(readBody(request, 10), { name: 'BodyError', problem: 'too-large', message: /larger than 10 bytes/ });
    assert.equal(reads, 0);
  });

  test('a body without a declared length is refused when it exceeds the limit', async () => {
    await assert.rejects(readBody(send([Buffer.alloc(6), Buffer.alloc(5)]), 10), { problem: 'too-large' });
    assert.equal((await readBody(send([Buffer.alloc(5), Buffer.alloc(5)]), 10)).length, 10, 'the limit itself is allowed');
  });

  test('the rest of a refused body is discarded, so that the client can read the answer', async () => {
    const request = send([Buffer.alloc(11), Buffer.alloc(100_000), Buffer.alloc(100_000)]);
    await assert.rejects(readBody(request, 10), { problem: 'too-large' });
    if (!request.readableEnded) await new Promise((resolve) => void request.once('end', resolve));
    assert.equal(request.readableLength, 0);
  });

  test('a request keeps nothing of the one who read its body, while its reply lasts', async () => {
    const request = send([Buffer.from('{}')]);
    const read = async (): Promise<WeakRef<object>> => {
      const call = { held: 0 };
      await readBody(request, 100, (bytes) => (call.held += bytes) > 0);
      return new WeakRef(call);
    };
    const call = await read();
    // An object that was in a WeakRef of this turn lives until its end.
    await new Promise((resolve) => void setImmediate(resolve));
    collectGarbage();
    assert.equal(call.deref(), undefined);
    assert.equal(request.listenerCount('aborted'), 1, 'the request itself is alive, with its listeners');
  });

  /** A request that is truncated after some bytes, as a server sees it. */
  async function cut(
    Request: typeof IncomingMessage,
    bytes: string,
    read: (request: IncomingMessage, gone: Promise<unknown>) => Promise<unknown>,
  ): Promise<unknown> {
    const outcome = Promise.withResolvers<unknown>();
    const server = createServer({ IncomingMessage: Request }, (request) => {
      const gone = new Promise((resolve) => void request.once('close', resolve));
      // A real server has its own error listener.
      request.on('error', () => {});
      socket.destroy();
      read(request, gone).then(outcome.reject, outcome.resolve);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    try {
      return await outcome.promise;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  for (const [name, bytes] of [
    ['with a declared length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"model":'],
    ['in chunks', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"model":\r\n'],
  ] as const) {
    for (const Request of [IncomingMessage, DirectRequest]) {
      test(`a body ${name} that is truncated never counts as whole (${Request.name})`, { timeout: 60_000 }, async () => {
        const error = await cut(Request, bytes, (request) => readBody(request, 1000));
        assert.equal((error as { problem?: string }).problem, 'incomplete');
      });

      test(`a body ${name} whose client disconnected before it was read fails at once (${Request.name})`, { timeout: 60_000 }, async () => {
        const error = await cut(Request, bytes, async (request, gone) => {
          await gone;
          return readBody(request, 1000);
        });
        assert.equal((error as { problem?: string }).problem, 'incomplete');
      });
    }
  }
});

describe('content encodings', () => {
  const text = Buffer.from('{"model":"grün"}');
  const encoders = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
  const encoded = {
    gzip: gzipSync(text),
    'x-gzip': gzipSync(text),
    deflate: deflateSync(text),
    br: brotliCompressSync(text),
    zstd: zstdCompressSync(text),
  };

  for (const [coding, bytes] of Object.entries(encoded)) {
    test(`${coding} is decoded, in any spelling of its name`, async () => {
      assert.deepEqual(await decodeBody(bytes, coding, 100), text);
      assert.deepEqual(await decodeBody(bytes, ` ${coding.toUpperCase()} `, 100), text);
    });

    test(`${coding} bomb: the limit applies to the decoded body`, async () => {
      const bomb = encoders[coding as keyof typeof encoders](Buffer.alloc(1_000_000));
      assert.ok(bomb.length < 10_000);
      await assert.rejects(decodeBody(bomb, coding, 100_000), { problem: 'too-large', message: /100000 bytes/ });
    });

    test(`${coding} that is damaged or truncated is refused`, async () => {
      for (const bad of [text, bytes.subarray(0, -3), Buffer.alloc(0)])
        await assert.rejects(decodeBody(bad, coding, 100), { problem: 'invalid-encoding' }, `${bad.length} bytes`);
    });
  }

  test('the decoded body may be exactly as large as the limit', async () => {
    assert.deepEqual(await decodeBody(encoded.gzip, 'gzip', text.length), text);
    await assert.rejects(decodeBody(encoded.gzip, 'gzip', text.length - 1), { problem: 'too-large' });
  });

  test('no encoding and identity return the same buffer', async () => {
    for (const coding of [undefined, '', ' ', 'identity', 'Identity']) assert.equal(await decodeBody(text, coding, 100), text);
  });

  test('an unknown encoding is named in the error, abbreviated', async () => {
    for (const coding of ['compress', 'gzip, br', 'constructor', '__proto__', 'x'.repeat(1000)]) {
      await assert.rejects(decodeBody(text, coding, 100), (error: Error & { problem?: string }) => {
        assert.equal(error.problem, 'unsupported-encoding');
        return error.message.length < 120;
      });
    }
  });

  test('every encoding that error messages name can be decoded', async () => {
    for (const coding of contentCodings) await decodeBody(coding === 'identity' ? text : encoded[coding], coding, 100);
  });
});
