import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { startChaosProxy, type Trouble } from './chaos-proxy.ts';
import { startChaosProxyProcess } from './chaos-proxy-process.ts';
import { openCall, type ReceivedReply } from './open-call.ts';

/** Tests of the gateway depend on this: each fault must behave as its name says. */
// Some of them wait.
describe('the chaos proxy', { concurrency: 6 }, () => {
  const text = 'x'.repeat(3000);
  const assertWhole = ({ text: received }: ReceivedReply): void => assert.ok(received === text, `${received.length} bytes`);
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end(text));
  });
  let target = 0;
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    target = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = (port: number, limitMs?: number): Promise<ReceivedReply> =>
    openCall(`http://127.0.0.1:${port}/`, { body: '{"a":1}', ...(limitMs === undefined ? {} : { limitMs }) }).done;

  /** The result of a connection attempt: `connected`, an error's code, or `unanswered`. */
  const knock = (port: number, limitMs = 20_000): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      const finish = (how: string): void => {
        clearTimeout(timer);
        socket.destroy();
        resolve(how);
      };
      const timer = setTimeout(finish, limitMs, 'unanswered');
      socket.once('connect', () => finish('connected'));
      socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? ''));
    });

  const cases: readonly { readonly trouble: Trouble; readonly check: (reply: ReceivedReply, tookMs: number) => void }[] = [
    { trouble: { type: 'none' }, check: assertWhole },
    {
      trouble: { type: 'delay', ms: 60 },
      check: (reply, tookMs) => {
        assertWhole(reply);
        // Timers count whole milliseconds.
        assert.ok(tookMs >= 118, `${tookMs} ms`);
      },
    },
    {
      trouble: { type: 'slow', bytesPerSecond: 20_000 },
      check: (reply, tookMs) => {
        assertWhole(reply);
        assert.ok(tookMs >= 100, `${tookMs} ms`);
      },
    },
    { trouble: { type: 'reset-on-connect' }, check: ({ status, end }) => assert.deepEqual([status, end], [0, 'broken']) },
    { trouble: { type: 'reset', afterBytes: 0 }, check: ({ status, end }) => assert.deepEqual([status, end], [0, 'broken']) },
    {
      trouble: { type: 'fin', afterBytes: 1000 },
      check: ({ status, end, bytes }) => {
        assert.deepEqual([status, end], [200, 'broken']);
        assert.ok(bytes.length < 1000 && bytes.length > 500);
      },
    },
    { trouble: { type: 'reset', afterBytes: 1000 }, check: ({ end, bytes }) => assert.ok(end === 'broken' && bytes.length < 1000) },
    { trouble: { type: 'stall', afterBytes: 0 }, check: ({ status, end }) => assert.deepEqual([status, end], [0, 'broken']) },
    {
      trouble: { type: 'stall', afterBytes: 1000 },
      check: ({ status, end, bytes }) => {
        assert.deepEqual([status, end], [200, 'broken']);
        assert.ok(bytes.length < 1000 && bytes.length > 500);
      },
    },
    {
      trouble: { type: 'flip', atByte: 1000 },
      check: ({ end, text: received }) => {
        assert.equal(end, 'complete');
        assert.equal(received.replaceAll('x', '').length, 1);
      },
    },
    {
      trouble: { type: 'status', status: 503, headers: { 'retry-after': '2' } },
      check: ({ status, headers }) => assert.deepEqual([status, headers['retry-after']], [503, '2']),
    },
  ];
  for (const { trouble, check } of cases) {
    test(JSON.stringify(trouble), async () => {
      await using proxy = await startChaosProxy(target);
      await proxy.set(trouble);
      const startedMs = performance.now();
      // Only a test that hangs needs an end.
      check(await ask(proxy.port, trouble.type === 'stall' ? 8000 : undefined), performance.now() - startedMs);
      await proxy.set({ type: 'none' });
      assertWhole(await ask(proxy.port));
    });
  }

  test('every other request is answered by the proxy', async () => {
    await using proxy = await startChaosProxy(target);
    await proxy.set({ type: 'status', status: 500, every: 2 });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) statuses.push((await ask(proxy.port)).status);
    assert.deepEqual(statuses, [200, 500, 200, 500]);
  });

  test('a closed port refuses connections, and reopens as the same port', async () => {
    await using proxy = await startChaosProxy(target);
    await proxy.set({ type: 'refuse' });
    assert.equal(await knock(proxy.port), 'ECONNREFUSED');
    await proxy.set({ type: 'none' });
    assertWhole(await ask(proxy.port));
    const { connections, requests, replies } = await proxy.counts();
    assert.deepEqual([connections, requests, replies], [1, 1, 1]);
  });

  const skip = process.platform === 'linux' ? false : 'only Linux drops connection attempts when a queue is full';
  test('a process that has vanished does not answer connection attempts, and answers after its return', { skip }, async () => {
    await using proxy = await startChaosProxyProcess(target);
    assertWhole(await ask(proxy.port));
    await proxy.vanish();
    assert.equal(await knock(proxy.port, 2000), 'unanswered');
    assert.equal((await ask(proxy.port, 300)).status, 0);
    await proxy.appear();
    assertWhole(await ask(proxy.port));
    await proxy.set({ type: 'refuse' });
    assert.equal(await knock(proxy.port), 'ECONNREFUSED');
  });
});
