import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';

import { configOf, examine, show, startOddServer, told, unusedPort } from './doctor-kit.ts';

test('without any configuration the simulated vendors are checked, and all checks are green', async () => {
  const report = await examine(undefined);
  assert.equal(report.simulated, true);
  assert.equal(report.healthy, true, show(report));
  const rows = report.upstreams.flatMap(({ matrix }) => matrix);
  assert.deepEqual(
    rows.map(({ upstream, dialect }) => `${upstream} ${dialect}`),
    [
      'simulated-anthropic anthropic-messages',
      'simulated-openai openai-responses',
      'simulated-openai openai-chat',
      'simulated-gemini gemini-generate-content',
      'simulated-xai openai-responses',
      'simulated-xai openai-chat',
    ],
  );
  for (const { upstream, dialect, results } of rows) {
    assert.equal(results.length, 14);
    for (const { check, verdict, says } of results) {
      const expected = check === 'count' && verdict === 'none' ? 'none' : 'good';
      assert.equal(verdict, expected, `${upstream} ${dialect} ${check}: ${says ?? ''}`);
    }
  }
  assert.match(show(report), /These were the simulated vendors/);
});

test('a correct small server is all green, and missing features are grey', async () => {
  await using server = await startOddServer();
  const report = await examine(configOf(server.url));
  assert.equal(report.healthy, true, show(report));
  assert.equal(told(report, 'count').verdict, 'none');
  assert.equal(told(report, 'credential').verdict, 'good');
});

test('paid checks are skipped on request, and filters select checks with their requirements', async () => {
  await using server = await startOddServer();
  const free = await examine(configOf(server.url), { mayCall: false });
  assert.deepEqual(
    free.upstreams[0]?.matrix[0]?.results.map(({ check }) => check),
    ['count', 'error'],
  );
  assert.deepEqual(server.requests(), ['GET /v1/models', 'POST /v1/chat/completions']);
  const few = await examine(configOf(server.url), { checks: ['tool-result'] });
  assert.deepEqual(
    few.upstreams[0]?.matrix[0]?.results.map(({ check }) => check),
    ['tool', 'tool-result'],
  );
  await assert.rejects(examine(configOf(server.url), { upstreams: ['nobody'] }), /no upstream "nobody".*odd/);
});

describe('the connection to an upstream', () => {
  test('a refused connection leads to the question whether the server is running', async () => {
    const port = await unusedPort();
    const report = await examine(configOf(`http://127.0.0.1:${port}/v1`));
    const { verdict, words } = told(report, 'TCP');
    assert.equal(verdict, 'bad');
    assert.match(words, new RegExp(`refused.*is the server running at 127\\.0\\.0\\.1:${port}`));
    assert.equal(report.healthy, false);
    assert.deepEqual(report.upstreams[0]?.matrix, [], 'no further check is made');
  });

  test('a name that does not exist leads to a hint about its spelling', async () => {
    const { verdict, words } = told(await examine(configOf('http://no-such-host.invalid/v1')), 'DNS');
    assert.equal(verdict, 'bad');
    assert.match(words, /no-such-host\.invalid cannot be resolved.*(?:spelling of baseUrl|resolver does not answer)/);
  });

  test('a server that accepts and never answers ends the step at its time-out', async () => {
    await using server = await startOddServer(() => true);
    const { verdict, words } = told(await examine(configOf(server.url), { timeoutMs: 4000 }), 'HTTP');
    assert.equal(verdict, 'bad');
    assert.match(words, /no answer within 4 s.*--timeout/);
  });

  test('a server without HTTP is reported', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.9\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { verdict, words } = told(await examine(configOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)), 'HTTP');
      assert.equal(verdict, 'bad');
      assert.match(words, /does not speak HTTP\/1\.1.*https:\/\//);
    } finally {
      server.close();
    }
  });

  test('Ctrl-C ends it at once, and it reports the interruption', async () => {
    await using server = await startOddServer(() => true);
    const abort = new AbortController();
    const running = examine(configOf(server.url), { signal: abort.signal, timeoutMs: 60_000 });
    setTimeout(() => abort.abort(), 50);
    const report = await running;
    assert.equal(report.aborted, true);
    assert.match(show(report), /Interrupted/);
  });
});
