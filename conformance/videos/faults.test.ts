import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';

describe('videos of faulty upstreams', () => {
  let bench: VideosBench;
  before(async () => {
    bench = await startVideosBench({ callbacks: { privateAddresses: true } });
  });
  after(() => bench[Symbol.asyncDispose]());

  const jobsOf = (prompt: string) => bench.simulator.videos().filter((job) => job['prompt'] === prompt);

  test('an accepted submission whose answer is cut is never sent twice to an upstream without idempotency', async () => {
    const id = await bench.make({ prompt: 'cut' }, { headers: { 'x-simulator-video': 'ms=100;accept=cut' } });
    const task = await bench.ended(id);
    assert.deepEqual([task.status, task.error.code], ['failed', 'submission_lost']);
    assert.equal(jobsOf('cut').length, 1);
    assert.equal((await bench.ask('GET', `/videos/${id}/receipt`)).json.charged.amount_usd, '0');
  });

  test('a submission to an upstream with idempotency is repeated under its key, and is one video', async () => {
    const id = await bench.make({ model: 'chained', prompt: 'chain cut' }, { headers: { 'x-simulator-video': 'ms=100;accept=cut' } });
    const submissions = () => bench.simulator.records().filter(({ method, path }) => method === 'POST' && path === '/v1/video/generations');
    assert.equal((await bench.ended(id)).status, 'completed');
    assert.equal(submissions().length, 2);
    const keys = new Set(submissions().map(({ requestHeaders }) => requestHeaders['idempotency-key']));
    assert.equal(keys.size, 1);
    assert.equal(jobsOf('chain cut').length, 1);
  });

  test('a result at an internal address is not fetched, and its video does not fail because of it', async () => {
    for (const link of ['redirect-inside', 'http://127.0.0.1:9/secret', 'http://[::ffff:169.254.169.254]/latest']) {
      const id = await bench.make({ prompt: link }, { headers: { 'x-simulator-video': `ms=100;link=${link}` } });
      await eventually(
        () => bench.ask('GET', `/videos/${id}`),
        ({ json }) => json.progress >= 99,
        60_000,
      );
      const content = await bench.ask('GET', `/videos/${id}/content`);
      assert.equal(content.status, 400, content.text);
    }
  });

  test('a redirect within the upstream is followed', async () => {
    const id = await bench.make({}, { headers: { 'x-simulator-video': 'ms=100;link=redirect' } });
    assert.equal((await bench.ended(id)).status, 'completed');
  });

  test('a video that moderation withheld has failed, and is charged as its vendor charges', async () => {
    const id = await bench.make({}, { headers: { 'x-simulator-video': 'ms=100;end=moderated' } });
    const task = await bench.ended(id);
    assert.deepEqual([task.status, task.error.code], ['failed', 'content_moderated']);
    const { json } = await bench.ask('GET', `/videos/${id}/receipt`);
    assert.equal(json.charged.usage.outputVideoMs, 5000);
  });

  test('a receiver gets the end once', async () => {
    const reported: { headers: Readonly<Record<string, unknown>>; body: string }[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        reported.push({ headers: request.headers, body });
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    try {
      const id = await bench.make({ callback_url: `http://127.0.0.1:${port}/hook` });
      await bench.ended(id);
      await eventually(
        () => reported.length,
        (count) => count > 0,
        60_000,
      );
      const event = JSON.parse(reported[0]?.body ?? '') as { type: string; data: { id: string } };
      assert.deepEqual([event.type, event.data.id], ['video.completed', id]);
      assert.match(String(reported[0]?.headers['webhook-signature']), /^v1,/);
      assert.equal(reported.length, 1);
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });
});
