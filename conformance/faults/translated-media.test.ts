import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { eventually } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openConnections } from '../support/open-connections.ts';
import type { Mode } from './fault-bench.ts';
import { answers, type ScriptedWeir, speeches, startScriptedWeir } from './translated-bench.ts';

/** How a client of each dialect refers to an image by its address, and how the gateway names the field. */
const pictures: Readonly<Record<Exclude<DialectId, 'openai-chat'>, (url: string) => object>> = {
  'anthropic-messages': (url) => ({ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] }),
  'openai-responses': (url) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }] }),
  'gemini-generate-content': (url) => ({ contents: [{ role: 'user', parts: [{ fileData: { fileUri: url, mimeType: 'image/png' } }] }] }),
};
const fields = {
  'anthropic-messages': /messages\.0\.content\.0/,
  'openai-responses': /input\[0\]\.content\[0\]/,
  'gemini-generate-content': /contents\[0\]\.parts\[0\]/,
};
const clients = Object.keys(pictures) as readonly (keyof typeof pictures)[];

function modeOf(dialect: DialectId): Mode {
  const api = chatInterfaces.find((candidate) => candidate.dialect === dialect);
  assert.ok(api);
  return { title: dialect, api, stream: false };
}

/** Addresses that only the gateway can reach, in every spelling. */
const inside = [
  'https://127.0.0.1/x.png',
  'https://localhost/x.png',
  'https://127.1/x.png',
  'https://2130706433/x.png',
  'https://0x7f000001/x.png',
  'https://0177.0.0.1/x.png',
  'https://0/x.png',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::1]/x.png',
  'https://[::ffff:127.0.0.1]/x.png',
  'https://[::ffff:a9fe:a9fe]/x.png',
  'https://[fd00:ec2::254]/x.png',
  'https://[64:ff9b::7f00:1]/x.png',
  'https://10.0.0.1/x.png',
  'https://192.168.1.1/x.png',
  'https://100.100.100.200/x.png',
  'https://127。0。0。1/x.png',
  'https://user:secret@127.0.0.1/x.png',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://host.that.nobody.has.invalid/x.png',
  'http://example.com/x.png',
  'https://example.com:8443/x.png',
  'ftp://example.com/x.png',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_x',
];

/**
 * An upstream that does not fetch images itself: the gateway would, and must not access its own network for a client.
 */
describe('images by address for an upstream that does not fetch', () => {
  let bench: ScriptedWeir;
  before(async () => {
    bench = await startScriptedWeir();
  });
  after(() => bench[Symbol.asyncDispose]());

  const plain = answers(200, 'application/json', JSON.stringify(speeches['openai-chat'].whole('words')));

  for (const client of clients) {
    test(`F79, F80, ${client}: every internal address is refused with a 400 that names the field, and nothing is sent`, async () => {
      const before = bench.reached();
      for (const url of inside) {
        const reply = await bench.send(modeOf(client), 'openai-chat', plain, { body: pictures[client](url) as Record<string, unknown> });
        assert.equal(reply.status, 400, `${url}: ${reply.text}`);
        assert.match(reply.text, fields[client], url);
        assert.doesNotMatch(
          reply.text,
          /ECONN|ENOTFOUND|EAI_AGAIN|connection refused|timed out/,
          `${url}: the answer says nothing about the network`,
        );
      }
      assert.equal(bench.reached(), before);
    });
  }

  test('private addresses have the same answer, whether a server exists there or not', async () => {
    const messages = async (url: string): Promise<string> => {
      const { text } = await bench.send(modeOf('anthropic-messages'), 'openai-chat', plain, {
        body: pictures['anthropic-messages'](url) as Record<string, unknown>,
      });
      return (JSON.parse(text) as { error: { message: string } }).error.message;
    };
    const { port } = new URL(bench.weir.gatewayUrl);
    assert.equal(await messages(`https://127.0.0.1:${port}/a`), await messages('https://127.0.0.1:1/b'));
    assert.equal(await messages(`https://127.0.0.1:${port}/a`), await messages('https://localhost/b'));
  });

  test('more files than the gateway would fetch are refused before the first is fetched', async () => {
    const [part] =
      (pictures['anthropic-messages']('https://media.example/x.png') as { messages: { content: object[] }[] }).messages[0]?.content ?? [];
    const reply = await bench.send(modeOf('anthropic-messages'), 'openai-chat', plain, {
      body: { messages: [{ role: 'user', content: Array.from({ length: 21 }, () => part) }] },
    });
    assert.equal(reply.status, 400);
    assert.match(reply.text, /messages\.0\.content\.20/);
  });
});

/** Private addresses are allowed, as on a developer's machine: possible attacks of an image server on the gateway. */
describe('images that the gateway fetches', () => {
  let bench: ScriptedWeir;
  let server: Server;
  let address: string;
  let waiting: ServerResponse[] = [];
  let asked = 0;
  before(async () => {
    bench = await startScriptedWeir({ media: { privateAddresses: true, fileBytesMax: 100_000 } });
    server = createServer((request, response) => {
      asked += 1;
      if (request.url === '/slow') waiting.push(response);
      else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (request.url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (request.url === '/html') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      else if (request.url === '/liar') response.writeHead(200, { 'content-type': 'image/png' }).end('no picture');
      else if (request.url === '/huge') response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(1_000_000));
      else response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    for (const response of waiting) response.destroy();
    server.close();
    await bench[Symbol.asyncDispose]();
  });

  const plain = answers(200, 'application/json', JSON.stringify(speeches['openai-chat'].whole('words')));
  const mode = modeOf('anthropic-messages');

  test('an image is fetched and sent along', async () => {
    let got = '';
    const reply = await bench.send(
      mode,
      'openai-chat',
      (response, body, request) => {
        got = body;
        plain(response, body, request);
      },
      { body: pictures['anthropic-messages'](`${address}/good`) as Record<string, unknown> },
    );
    assert.equal(reply.status, 200, reply.text);
    assert.match(got, /data:image\/png;base64,iVBORw0KGgoAAAAN/);
  });

  test("endless or non-web redirects, HTML pages, false types and files that are too large are refused with the field's name", async () => {
    for (const path of ['/loop', '/file', '/html', '/liar', '/huge']) {
      const reply = await bench.send(mode, 'openai-chat', plain, {
        body: pictures['anthropic-messages'](address + path) as Record<string, unknown>,
      });
      assert.equal(reply.status, 400, `${path}: ${reply.text}`);
      assert.match(reply.text, fields['anthropic-messages'], path);
    }
  });

  test('a client that disconnects while its images are fetched: no further image is fetched, the upstream gets no request, nothing is booked', async () => {
    // Rows are shipped in order: once this row exists, those of the calls before exist too.
    const before = await bench.send(mode, 'openai-chat', plain);
    await bench.ledger.row(String(before.headers['x-weir-request-id']));
    const [reachedBefore, rowsBefore] = [bench.reached(), (await bench.ledger.all()).length];
    const askedBefore = asked;
    const [part] = (pictures['anthropic-messages'](`${address}/slow`) as { messages: { content: object[] }[] }).messages[0]?.content ?? [];
    const call = bench.open(mode, 'openai-chat', plain, {
      body: { messages: [{ role: 'user', content: Array.from({ length: 5 }, () => part) }] },
    });
    await eventually(
      () => waiting.length,
      (count) => count === 1,
    );
    call.leave('fin');
    await call.done;
    await eventually(
      () => openConnections(bench.weir.gatewayUrl),
      (connections) => connections === 0,
    );
    waiting[0]?.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
    waiting = [];
    const next = await bench.send(mode, 'openai-chat', plain);
    assert.equal(next.status, 200);
    await bench.ledger.row(String(next.headers['x-weir-request-id']));
    assert.equal(bench.reached(), reachedBefore + 1, 'only the next call reached the upstream');
    assert.equal((await bench.ledger.all()).length, rowsBefore + 1);
    assert.equal(asked, askedBefore + 1);
    assert.doesNotMatch(bench.weir.output(), /unhandled|uncaught|failed inside|TypeError|RangeError/i);
  });
});
