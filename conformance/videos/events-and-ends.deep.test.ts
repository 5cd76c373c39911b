import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { request } from 'undici';

import { eventually } from '../support/http.ts';
import { startVideosWorld, type WorldGateway } from './start-videos-world.ts';
import { steerJob } from './task-books.ts';

/** Generous, and far below the half minute that a drain may take. */
const quickMs = 25_000;

/** Follows a video. `over` resolves when the stream has ended completely, and rejects if it was cut. */
async function follow(weir: WorldGateway, id: string, headers: Readonly<Record<string, string>> = {}) {
  const { statusCode, body } = await request(`${weir.gatewayUrl}/v1/videos/${id}/events`, {
    headers: { authorization: `Bearer ${weir.apiKey}`, accept: 'text/event-stream', ...headers },
  });
  let text = '';
  const over = (async () => {
    for await (const piece of body) text += String(piece);
  })();
  // Checked by tests that need the end.
  over.catch(() => undefined);
  return { statusCode, text: () => text, over };
}

describe('videos in progress while the gateway stops', { concurrency: 2 }, () => {
  for (const command of ['start', 'gateway'] as const) {
    test(`a client that follows a video gets a complete answer at once, reconnects to the next gateway and misses nothing (${command})`, async () => {
      await using world = await startVideosWorld({ timeouts: { drainDelayMs: 0, heartbeatMs: 100 } });
      const before = await world.start({ command, ...(command === 'gateway' ? { commandArguments: ['--workers', '2'] } : {}) });
      const id = await before.make({ prompt: 'followed' }, 'end=never');
      const followed = await follow(before, id);
      assert.equal(followed.statusCode, 200);
      await eventually(followed.text, (text) => /event: video\.\w+\n/.test(text) && text.includes(': heartbeat\n\n'));
      const begunMs = performance.now();
      const code = await before.stop('SIGTERM');
      assert.ok(performance.now() - begunMs < quickMs, `${performance.now() - begunMs} ms`);
      assert.equal(code, 0, before.output());
      await followed.over;
      assert.doesNotMatch(followed.text(), /video\.(?:failed|completed)/);
      const after = await world.start();
      const again = await follow(after, id, { 'last-event-id': '7' });
      await eventually(again.text, (text) => text.includes('event: '));
      await steerJob(world.simulator, 'followed', 'end=failed');
      await again.over;
      const events = [...again.text().matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>);
      assert.deepEqual([events[0]?.['sequence'], events.at(-1)?.['status']], [0, 'failed']);
      const job = world.simulator.videos();
      assert.equal(job.length, 1, 'it was made once');
    });
  }

  test('Ctrl-C while a file is copied ends at once; the next gateway copies it', async () => {
    await using world = await startVideosWorld();
    const before = await world.start();
    const id = await before.make({ duration: 1 }, 'ms=100;content=slow;content-rate=200');
    await eventually(
      () => world.simulator.videos()[0]?.['downloads'],
      (downloads) => Number(downloads) >= 1,
      60_000,
    );
    const begunMs = performance.now();
    await before.stop('SIGINT');
    assert.ok(performance.now() - begunMs < quickMs, `${performance.now() - begunMs} ms`);
    const name = world.simulator.videos()[0]?.['id'];
    assert.ok(typeof name === 'string');
    const changed = await request(`${world.simulator.controlUrl}/videos/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ video: 'content-rate=10000000' }),
    });
    assert.equal(changed.statusCode, 200, await changed.body.text());
    const after = await world.start();
    assert.equal((await after.ended(id, 60_000)).status, 'completed');
    const content = await after.ask('HEAD', `/videos/${id}/content`);
    assert.equal(content.status, 200);
  });

  test('a missing video cannot be followed, and the end of a finished one is reported once', async () => {
    await using world = await startVideosWorld();
    const weir = await world.start();
    const unknown = await weir.ask('GET', '/videos/video_0/events');
    assert.deepEqual([unknown.status, unknown.json.error.param], [404, 'id']);
    const id = await weir.make({}, 'ms=100;end=failed');
    await weir.ended(id);
    const late = await follow(weir, id);
    await late.over;
    assert.equal(late.text().match(/^event: /gm)?.length, 1);
    const head = await weir.ask('HEAD', `/videos/${id}/events`);
    assert.deepEqual([head.status, head.text], [200, '']);
  });
});
