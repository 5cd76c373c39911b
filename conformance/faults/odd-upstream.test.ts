import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { openLedger, type Ledger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openCall, type ReceivedReply } from '../support/open-call.ts';
import { neverOverloaded, upstreamKey } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat');
assert.ok(chat);

const reply = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'odd',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
});
const stream = [
  'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Grüße"},"finish_reason":null}]}\n\n',
  'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: {"id":"1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}\n\n',
  'data: [DONE]\n\n',
].join('');
const length = Buffer.byteLength(reply);
const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const whole = `${head}content-length: ${length}\r\n\r\n${reply}`;
const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

type Case = {
  readonly name: string;
  readonly stream?: boolean;
  /** The bytes of the upstream, and whether it closes the connection after them. */
  readonly send: string | Buffer;
  readonly close?: boolean;
  /** `same`: the reply arrives unchanged and is booked exactly. `error`: a 5xx of the dialect, and free. */
  readonly expected: 'same' | 'error' | 'either';
};

const cases: readonly Case[] = [
  { name: 'a plain reply', send: whole, expected: 'same' },
  {
    name: 'a header in UTF-8',
    send: Buffer.from(whole.replace('content-length', 'x-request-id: Grüße 世界\r\ncontent-length')),
    expected: 'either',
  },
  {
    name: 'a header in Latin-1',
    send: Buffer.concat([
      Buffer.from(`${head}x-request-id: Gr\u00fc\u00dfe\r\ncontent-length: ${length}\r\n\r\n`, 'latin1'),
      Buffer.from(reply),
    ]),
    expected: 'either',
  },
  { name: 'a NUL in a header', send: whole.replace('content-length', 'x-request-id: a\0b\r\ncontent-length'), expected: 'error' },
  { name: 'a folded header', send: whole.replace('content-length', 'x-request-id: a\r\n b\r\ncontent-length'), expected: 'either' },
  { name: 'early hints first', send: `HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n${whole}`, expected: 'same' },
  { name: 'processing first', send: `HTTP/1.1 102 Processing\r\n\r\n${whole}`, expected: 'same' },
  { name: 'an unrequested 100 Continue', send: `HTTP/1.1 100 Continue\r\n\r\n${whole}`, expected: 'either' },
  { name: 'other protocols', send: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', expected: 'error' },
  { name: 'no content', send: 'HTTP/1.1 204 No Content\r\n\r\n', expected: 'error' },
  { name: 'not modified', send: 'HTTP/1.1 304 Not Modified\r\n\r\n', expected: 'error' },
  { name: 'an unknown status', send: 'HTTP/1.1 299 Odd\r\ncontent-length: 2\r\n\r\n{}', expected: 'either' },
  {
    name: 'HTTP/1.0 ended by the connection',
    send: `HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${reply}`,
    close: true,
    expected: 'same',
  },
  { name: 'no content type', send: `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${reply}`, expected: 'same' },
  { name: 'JSON as text', send: whole.replace('application/json', 'text/plain; charset=utf-8'), expected: 'same' },
  { name: 'two content types', send: whole.replace('content-length', 'content-type: text/plain\r\ncontent-length'), expected: 'same' },
  {
    name: 'chunks with extensions and trailers',
    send: `${head}transfer-encoding: chunked\r\n\r\n${length.toString(16)};a=b\r\n${reply}\r\n0\r\nx-trailer: y\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'an invalid chunk size',
    send: `${head}transfer-encoding: chunked\r\n\r\nzz\r\n${reply}\r\n0\r\n\r\n`,
    expected: 'error',
  },
  {
    name: 'an absurd chunk size',
    send: `${head}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n${reply}`,
    close: true,
    expected: 'error',
  },
  { name: 'a negative length', send: `${head}content-length: -1\r\n\r\n${reply}`, close: true, expected: 'error' },
  { name: 'bytes that are not HTTP', send: 'hello\r\n\r\n', close: true, expected: 'error' },
  { name: 'a JSON that is not an object', send: `${head}content-length: 4\r\n\r\nnull`, expected: 'either' },
  {
    name: 'a JSON nested a hundred thousand deep',
    send: `${head}content-length: 200000\r\n\r\n${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    expected: 'either',
  },
  {
    name: 'invalid UTF-8 in the reply',
    send: Buffer.concat([
      Buffer.from(`${head}content-length: ${length}\r\n\r\n`),
      Buffer.from(reply.replace('Grüße', 'Gr\u00fc\u00fc\u00fc\u00fce'), 'latin1'),
    ]),
    close: true,
    expected: 'either',
  },
  { name: 'a cookie', send: whole.replace('content-length', 'set-cookie: a=b\r\ncontent-length'), expected: 'same' },
  {
    name: 'a plain stream',
    stream: true,
    send: `${streamHead}transfer-encoding: chunked\r\n\r\n${chunked(stream)}0\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'a stream ended by the connection',
    stream: true,
    send: `${streamHead}connection: close\r\n\r\n${stream}`,
    close: true,
    expected: 'same',
  },
  {
    name: 'a stream without a content type',
    stream: true,
    send: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunked(stream)}0\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'a stream as text',
    stream: true,
    send: `${streamHead.replace('event-stream', 'plain')}transfer-encoding: chunked\r\n\r\n${chunked(stream)}0\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'a stream with early hints first',
    stream: true,
    send: `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${streamHead}transfer-encoding: chunked\r\n\r\n${chunked(stream)}0\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'a hundred thousand empty events',
    stream: true,
    send: `${streamHead}transfer-encoding: chunked\r\n\r\n${chunked('data:\n\n'.repeat(100_000) + stream)}0\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'a stream whose events are nested a hundred thousand deep',
    stream: true,
    send: `${streamHead}transfer-encoding: chunked\r\n\r\n${chunked(`data: ${'['.repeat(100_000)}\n\n${stream}`)}0\r\n\r\n`,
    expected: 'same',
  },
  {
    name: 'a stream of events that are not objects',
    stream: true,
    send: `${streamHead}transfer-encoding: chunked\r\n\r\n${chunked(`data: null\n\ndata: 5\n\ndata: []\n\ndata: {"choices":5}\n\ndata: {"choices":[null]}\n\ndata: {"choices":[{"delta":null,"index":"x"}],"usage":[]}\n\n${stream}`)}0\r\n\r\n`,
    expected: 'either',
  },
  {
    name: 'prototype members in usage',
    stream: true,
    send: `${streamHead}transfer-encoding: chunked\r\n\r\n${chunked(stream.replace('"usage":{', '"usage":{"__proto__":{"prompt_tokens":1},"constructor":1,'))}0\r\n\r\n`,
    expected: 'same',
  },
];

/** Servers that speak HTTP, more or less, in ways that the simulated vendors never would. */
describe('an odd upstream', () => {
  let weir: ServedWeir;
  let ledger: Ledger;
  let server: Server;
  let script: Case | undefined;
  const sockets = new Set<Socket>();
  before(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      let received = '';
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const end = received.indexOf('\r\n\r\n');
        const declared = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
        if (end < 0 || received.length < end + 4 + declared || script === undefined) return;
        received = '';
        socket.write(script.send);
        if (script.close === true) socket.end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    weir = await serveWeir({
      command: 'gateway',
      config: JSON.stringify({
        upstreams: { odd: { vendor: 'openai-compatible', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: upstreamKey } },
        models: { odd: { targets: [{ upstream: 'odd' }], price: { input: '1', output: '1' } } },
        timeouts: { firstByteMs: 20_000, idleMs: 20_000 },
        overload: neverOverloaded,
        // Each fault is separate: the next one must find its upstream healthy.
        retries: { attemptsMax: 1, avoidFailing: false },
      }),
    });
    ledger = await openLedger(weir.dataDirectory);
  });
  after(async () => {
    await ledger.close();
    await weir[Symbol.asyncDispose]();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  async function ask(which: Case): Promise<ReceivedReply> {
    script = which;
    return openCall(`${weir.gatewayUrl}${chat?.path('odd')}`, {
      headers: { authorization: `Bearer ${weir.apiKey}` },
      body: JSON.stringify({
        ...chat?.body('odd', 'Hello', which.stream),
        ...(which.stream === true ? { stream_options: { include_usage: true } } : {}),
      }),
    }).done;
  }

  for (const which of cases) {
    test(`${which.name}: ${which.expected}`, async () => {
      const answer = await ask(which);
      assert.equal(answer.end, 'complete', 'the client gets an answer that ends');
      assert.equal(answer.headers['set-cookie'], undefined);
      const row = await ledger.row(String(answer.headers['x-weir-request-id']));
      if (which.expected === 'same') assert.equal(answer.status, 200, answer.text.slice(0, 500));
      if (which.expected === 'error') assert.match(String(answer.status), /^5\d\d$/, answer.text.slice(0, 500));
      if (which.expected === 'same') {
        assert.ok(which.stream === true ? answer.text.endsWith('data: [DONE]\n\n') : answer.text === reply);
        assert.match(String(answer.headers['content-type']), which.stream === true ? /^text\/event-stream/ : /^application\/json$/);
        assert.deepEqual([row.end, row.usage.inputTokens, row.usage.outputTokens, row.charge.amountNanoUsd], ['finished', 5, 7, 12_000n]);
      } else if (answer.status >= 400) {
        assert.ok((JSON.parse(answer.text) as { error: object }).error);
        assert.deepEqual([row.end, row.charge.amountNanoUsd], ['failed', 0n]);
      }
      const next = await ask(cases[0] as Case);
      assert.equal(next.status, 200, 'the next call is served');
      assert.equal(next.text, reply, 'with its own reply');
    });
  }

  const refusal = JSON.stringify({ error: { message: `Incorrect API key provided: ${upstreamKey}`, type: 'invalid_request_error' } });
  const quoting: readonly Case[] = [
    {
      name: 'an error event',
      stream: true,
      send: `${streamHead}transfer-encoding: chunked\r\n\r\n${chunked(`data: ${refusal}\n\n`)}0\r\n\r\n`,
      expected: 'either',
    },
    { name: 'an error inside a 200', send: `${head}content-length: ${Buffer.byteLength(refusal)}\r\n\r\n${refusal}`, expected: 'either' },
    { name: 'a header', send: whole.replace('content-length', `x-request-id: ${upstreamKey}\r\ncontent-length`), expected: 'either' },
  ];
  for (const which of quoting) {
    test(`${which.name} that quotes the operator's credential does not show it to the client`, async () => {
      const answer = await ask(which);
      assert.ok(!answer.text.includes(upstreamKey), answer.text);
      assert.ok(!JSON.stringify(answer.headers).includes(upstreamKey), JSON.stringify(answer.headers));
    });
  }

  test('a connection that the upstream closed while it was idle does not fail the next call', async () => {
    const plain = cases[0] as Case;
    for (let round = 0; round < 5; round++) {
      assert.equal((await ask(plain)).status, 200);
      for (const socket of sockets) socket.end();
      await eventually(
        () => sockets.size,
        (open) => open === 0,
      );
    }
  });

  test('afterwards nothing unexpected was printed', () => {
    assert.doesNotMatch(weir.output(), /unhandled|uncaught|failed inside the gateway|TypeError|RangeError/i);
    assert.ok(!weir.output().includes(upstreamKey));
  });
});
