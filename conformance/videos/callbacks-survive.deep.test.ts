import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';

import { isPublicAddress } from '../../src/platform/http/public-address.ts';
import { startReceiver } from '../../src/tasks/callbacks/testing/callback-receiver.ts';
import { eventually } from '../support/http.ts';
import { startVideosWorld } from './start-videos-world.ts';

/** A failed video has no file, which the simulator would have to generate. */
const failing = 'ms=100;end=failed';

/** A name that looks public and resolves to an internal address, if this machine has one. */
async function findInsideName(): Promise<string | undefined> {
  for (const name of [hostname(), 'ip6-localhost', 'ip6-loopback']) {
    if (/(?:^|\.)(?:localhost|local|internal)$/.test(name)) continue;
    const addresses = await lookup(name, { all: true }).catch(() => []);
    if (addresses.some(({ address }) => !isPublicAddress(address))) return name;
  }
  return undefined;
}

describe('callbacks of videos survive failures of the gateway', { concurrency: 2 }, () => {
  test('if the gateway is killed between the end of a video and the delivery, the next gateway delivers once', async (context) => {
    let isUp = false;
    const { url, received } = await startReceiver(context, (response) => {
      if (isUp) response.writeHead(204).end();
      else response.destroy();
    });
    await using world = await startVideosWorld({ callbacks: { privateAddresses: true } });
    const before = await world.start();
    const id = await before.make({ callback_url: url }, failing);
    await before.ended(id);
    await eventually(
      () => before.ask('GET', `/callbacks?subject=${id}`),
      ({ json }) => json.data[0]?.attempts >= 1,
      60_000,
    );
    await before.stop('SIGKILL');
    // One; more if the machine stalled for five seconds before the kill.
    const failed = received.length;
    isUp = true;
    const after = await world.start();
    const { json } = await eventually(
      () => after.ask('GET', `/callbacks?subject=${id}`),
      (answer) => answer.json.data[0]?.status === 'delivered',
      60_000,
    );
    assert.deepEqual([json.data.length, json.data[0].type], [1, 'video.failed']);
    assert.ok(json.data[0].attempts >= 2);
    assert.deepEqual(new Set(received.map(({ headers }) => headers['webhook-id'])), new Set([json.data[0].id]));
    assert.equal(received.length, failed + 1);
  });

  test('of two workers one sends, with one secret', async (context) => {
    const { url, received } = await startReceiver(context);
    await using world = await startVideosWorld({ callbacks: { privateAddresses: true } });
    const weir = await world.start({ command: 'gateway', commandArguments: ['--workers', '2'] });
    const ids = await Promise.all(Array.from({ length: 8 }, () => weir.make({ callback_url: url }, failing)));
    await eventually(
      () => received.length,
      (count) => count >= ids.length,
      60_000,
    );
    const events = async () => (await weir.ask('GET', '/callbacks?limit=100')).json.data as readonly Record<string, unknown>[];
    const all = await eventually(events, (list) => list.every(({ status }) => status === 'delivered'));
    assert.deepEqual(new Set(all.map(({ subject }) => subject)), new Set(ids));
    assert.equal(all.length, ids.length);
    assert.ok(all.every(({ attempts }) => attempts === 1));
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, ids.length);
    assert.equal(received.length, ids.length);
  });

  test('unless the operator allows it nothing is sent to internal addresses: they are refused at once if visible, and otherwise at delivery', async (context) => {
    await using world = await startVideosWorld();
    const weir = await world.start();
    const inside = [
      'http://hooks.example/',
      'https://127.0.0.1/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/',
      'https://a.localhost/',
    ];
    for (const callback of inside) {
      for (const [path, field] of [
        ['/video/generations', 'callback_url'],
        ['/video/generations', 'webhook_url'],
        ['/videos', 'callback_url'],
        ['/videos/generations', 'callback_url'],
      ] as const) {
        const { status, text } = await weir.ask('POST', path, { body: { model: 'vendor-imagine-video', prompt: 'x', [field]: callback } });
        assert.equal(status, 400, `${path} ${callback}: ${text}`);
        assert.match(text, /callback_url.*(?:https:\/\/|public internet)/);
      }
    }
    assert.equal(world.simulator.videos().length, 0, 'no task is begun');
    const name = await findInsideName();
    if (name === undefined) {
      context.diagnostic('this machine does not have a name with an internal address');
      return;
    }
    const id = await weir.make({ callback_url: `https://${name}/` }, failing);
    const { json } = await eventually(
      () => weir.ask('GET', `/callbacks?subject=${id}`),
      (answer) => answer.json.data[0]?.attempts >= 1,
      60_000,
    );
    assert.match(json.data[0].last_problem, /no public internet address/);
    assert.equal(json.data[0].status, 'waiting');
  });
});
