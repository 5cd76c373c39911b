import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { type WebSocket, WebSocketServer } from 'ws';

import { AdminProblem } from '../../problem.ts';
import { relayLimitsDefault } from './playground-relay.ts';
import { createPlaygroundSockets, framesAsEvents, type PlaygroundSockets } from './playground-sockets.ts';

const secret = 'sk-weir-the-secret-of-the-playground';
const limits = { ...relayLimitsDefault, silenceMs: 2000, ofSession: 2, ofAll: 3, idleMs: 60_000 };
const created = '{"type":"response.created"}';
const completed = '{"type":"response.completed","response":{"id":"resp_1"}}';

describe('the WebSockets of the playground', () => {
  let origin: URL;
  let upgrades: IncomingMessage[] = [];
  let opened: WebSocket[] = [];
  let sockets: PlaygroundSockets;
  /** What the gateway does with a message. */
  let answer: (socket: WebSocket, text: string) => void = () => {};
  let refuses: number | undefined;
  /** Whether it never ends its refusal. */
  let stalls = false;
  const gateway = createServer();
  const server = new WebSocketServer({ noServer: true });

  before(async () => {
    gateway.on('upgrade', (request: IncomingMessage, socket, head) => {
      upgrades.push(request);
      if (refuses !== undefined) {
        const body = '{"error":{"code":"invalid_api_key"}}';
        const length = stalls ? body.length + 1 : body.length;
        socket.write(
          `HTTP/1.1 ${refuses} No\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`,
        );
        if (!stalls) socket.end();
        return;
      }
      server.handleUpgrade(request, socket, head, (made) => {
        opened.push(made);
        made.on('message', (data: Buffer) => answer(made, data.toString()));
      });
    });
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    origin = new URL(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}`);
  });
  after(() => {
    server.close();
    gateway.closeAllConnections();
    gateway.close();
  });
  beforeEach(() => {
    sockets?.close();
    [upgrades, opened, refuses, stalls] = [[], [], undefined, false];
    sockets = createPlaygroundSockets(limits);
    answer = (socket) => [created, completed].forEach((frame) => socket.send(frame));
  });
  after(() => sockets.close());

  const send = async (connection: string, text = '{}', signal = new AbortController().signal, sessionId = 'ses_1') =>
    await sockets.send({ origin, secret, sessionId, connection, text }, signal);
  async function read(answered: Awaited<ReturnType<typeof send>>): Promise<readonly string[]> {
    assert.ok('frames' in answered);
    return await Array.fromAsync(answered.frames);
  }
  const codeOf = (error: unknown): boolean => error instanceof AdminProblem;

  test('a message and its frames pass unchanged, and the next message goes over the same connection with its key', async () => {
    const texts: string[] = [];
    answer = (socket, text) => {
      texts.push(text);
      for (const frame of [created, '{"note":"response.completed"}', completed]) socket.send(frame);
    };
    assert.deepEqual(await read(await send('a', '{"n": 1.0}')), [created, '{"note":"response.completed"}', completed]);
    assert.equal((await read(await send('a', 'second'))).length, 3);
    assert.deepEqual(texts, ['{"n": 1.0}', 'second']);
    assert.deepEqual(
      upgrades.map(({ url, headers }) => [url, headers.authorization, headers.cookie]),
      [['/v1/responses', `Bearer ${secret}`, undefined]],
    );
    await read(await send('b'));
    assert.equal(upgrades.length, 2, 'another name is another connection');
    await read(await send('a', '{}', undefined, 'ses_2'));
    assert.equal(upgrades.length, 3, 'a session has connections of its own');
  });

  test('a connection answers one message at a time, and a person who leaves ends it', async () => {
    answer = (socket) => socket.send(created);
    const leaving = new AbortController();
    const running = await send('a', '{}', leaving.signal);
    assert.ok('frames' in running);
    const frames = running.frames[Symbol.asyncIterator]();
    assert.equal((await frames.next()).value, created);
    await assert.rejects(send('a'), codeOf);
    const closed = once(opened[0] ?? assert.fail(), 'close');
    leaving.abort();
    await closed;
    await assert.rejects(frames.next());
    answer = (socket) => socket.send(completed);
    assert.deepEqual(await read(await send('a')), [completed], 'the next message opens a new one');
  });

  test('a person who leaves before anything is read ends the connection too', async () => {
    const leaving = new AbortController();
    await send('a', '{}', leaving.signal);
    const closed = once(opened[0] ?? assert.fail(), 'close');
    leaving.abort();
    await closed;
  });

  test('a session has some connections: the longest idle one makes room, and none that answers', async () => {
    for (const name of ['a', 'b', 'c']) await read(await send(name));
    assert.equal(upgrades.length, 3);
    await read(await send('c'));
    assert.equal(upgrades.length, 3);
    await read(await send('a'));
    assert.equal(upgrades.length, 4, 'the first one had made room');
    answer = (socket) => socket.send(created);
    for (const name of ['a', 'c']) await send(name);
    await assert.rejects(send('d'), codeOf);
  });

  test('what the gateway answers in place of a WebSocket is the answer', async () => {
    refuses = 401;
    const answered = await send('a');
    assert.ok('status' in answered);
    assert.deepEqual([answered.status, answered.body], [401, '{"error":{"code":"invalid_api_key"}}']);
    refuses = undefined;
    assert.equal((await read(await send('a'))).length, 2);
  });

  test('a refusal that never ends is the answer as far as it came, and a person who leaves does not wait for it', async () => {
    [refuses, stalls] = [401, true];
    const hasty = createPlaygroundSockets({ ...limits, silenceMs: 50 });
    const message = { origin, secret, sessionId: 'ses_1', connection: 'a', text: '{}' };
    const answered = await hasty.send(message, new AbortController().signal);
    assert.ok('status' in answered);
    assert.deepEqual([answered.status, answered.body], [401, '{"error":{"code":"invalid_api_key"}}']);
    await assert.rejects(sockets.send(message, AbortSignal.timeout(20)), /timeout/);
  });

  test('a connection that breaks, that is silent for too long, or that cannot be opened is an error', async () => {
    answer = (socket) => socket.terminate();
    await assert.rejects(read(await send('a')), /ended before the response/);
    answer = () => {};
    await assert.rejects(read(await send('a')), /ended before the response/);
    const nobody = { origin: new URL('http://127.0.0.1:1'), secret, sessionId: 'ses_1', connection: 'a', text: '{}' };
    await assert.rejects(sockets.send(nobody, new AbortController().signal), /ECONNREFUSED/);
  });

  test('frames become events, line by line', async () => {
    async function* frames() {
      yield '{"a":\n1}';
      await delay(1);
      yield completed;
    }
    assert.equal(
      (await Array.fromAsync(framesAsEvents(frames()))).join(''),
      `: connected\n\ndata: {"a":\ndata: 1}\n\ndata: ${completed}\n\n`,
    );
  });
});
