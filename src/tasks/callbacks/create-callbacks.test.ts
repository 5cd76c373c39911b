import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { createCallbackVault } from './callback-vault.ts';
import { createCallbacks } from './create-callbacks.ts';
import { createFakeCallbackStore } from './testing/fake-callback-store.ts';
import { createResponseWatch } from './watch-response.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

const userName = 'anna';
const url = 'https://hooks.example/secret';

function setUp() {
  let nowMs = 1_800_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const store = createFakeCallbackStore();
  const key = randomBytes(32);
  const vault = createCallbackVault({ store, key, randomBytes, clock });
  const callbacks = createCallbacks({ store, vault, clock, allowPrivate: () => false });
  const statuses = new Map<string, string>();
  const watch = createResponseWatch({ callbacks, clock, findStatus: async (_user, id) => statuses.get(id) });
  const list = () => callbacks.list({ userName, limit: 10 });
  const ask = async () => {
    const watched = (await store.listDeliveries({ userName, limit: 10 })).find(({ id }) => id.startsWith('watch_'));
    assert.ok(watched);
    return watch(watched, vault.openUrl(watched.sealedUrl, watched.id) ?? '');
  };
  return { store, key, clock, vault, callbacks, statuses, list, ask, advance: (byMs: number) => void (nowMs += byMs) };
}

test('an end that is reported several times is one event, and the first report counts', async () => {
  const { callbacks, list, vault } = setUp();
  await callbacks.responseEnded({ userName, id: 'resp_1', url, status: 'completed' });
  await callbacks.responseEnded({ userName, id: 'resp_1', url, status: 'failed' });
  await callbacks.responseEnded({ userName: 'bob', id: 'resp_1', url, status: 'completed' });
  const [event, ...more] = await list();
  assert.equal(more.length, 0);
  assert.ok(event);
  assert.equal(event.eventType, 'response.completed');
  assert.equal(vault.openUrl(event.sealedUrl, event.id), url);
  assert.equal(vault.openUrl(event.sealedUrl, 'msg_other'), undefined);
  assert.ok(!Buffer.from(event.sealedUrl).includes('hooks.example'));
});

test('a watched response is checked until it has ended, and then reported', async () => {
  const { callbacks, statuses, list, ask, clock } = setUp();
  await callbacks.watchResponse({ userName, id: 'resp_1', url });
  assert.deepEqual(await list(), []);
  for (const status of ['queued', 'in_progress']) {
    statuses.set('resp_1', status);
    assert.equal(await ask(), clock.nowMs() + 15_000);
  }
  statuses.set('resp_1', 'cancelled');
  assert.equal(await ask(), undefined);
  assert.deepEqual(
    (await list()).map(({ eventType, subject }) => [eventType, subject]),
    [['response.cancelled', 'resp_1']],
  );
});

test('a watch waits for a response that is not stored yet, and ends for a deleted one', async () => {
  const { callbacks, list, ask, clock, advance } = setUp();
  await callbacks.watchResponse({ userName, id: 'resp_1', url });
  assert.equal(await ask(), clock.nowMs() + 15_000);
  advance(60_000);
  assert.equal(await ask(), undefined);
  assert.deepEqual(await list(), []);
});

test('events of another user are not found, and a watch cannot be sent', async () => {
  const { callbacks, list, store } = setUp();
  await callbacks.watchResponse({ userName, id: 'resp_1', url });
  await callbacks.responseEnded({ userName, id: 'resp_1', url, status: 'completed' });
  const [event] = await list();
  assert.ok(event);
  assert.equal(await callbacks.sendAgain('bob', event.id, changeAt()), false);
  assert.equal(await callbacks.sendAgain(userName, event.id, changeAt()), true);
  for (const { id } of await store.listDeliveries({ userName, limit: 10 }))
    assert.equal(await callbacks.sendAgain(userName, id, changeAt()), id === event.id);
});

test('a secret is created once, differs between users, and is not stored in clear', async () => {
  const { callbacks, store } = setUp();
  const secrets = await Promise.all([1, 2, 3].map(() => callbacks.findSecret(userName)));
  const last = await callbacks.findSecret(userName);
  assert.ok(secrets.includes(last));
  assert.notEqual(await callbacks.findSecret('bob'), last);
  const stored = await store.findCallbackSecrets(userName);
  assert.ok(stored !== undefined && !Buffer.from(stored.current).includes(last.slice(6)));
});

test('secrets under another key are an error, and a rotation creates new ones', async () => {
  const { callbacks, store, clock } = setUp();
  await callbacks.findSecret(userName);
  const moved = createCallbackVault({ store, key: randomBytes(32), randomBytes, clock });
  await assert.rejects(moved.secretsOf(userName), { name: 'CallbackKeyError' });
  const fresh = await moved.rotate(userName, changeAt());
  assert.deepEqual(await moved.secretsOf(userName), [fresh]);
});

test('a user’s secret does not open as another user’s', async () => {
  const { callbacks, store, vault } = setUp();
  await callbacks.findSecret(userName);
  const stolen = await store.findCallbackSecrets(userName);
  assert.ok(stolen);
  await store.putCallbackSecrets({ ...stolen, userName: 'bob' });
  await assert.rejects(vault.secretsOf('bob'), { name: 'CallbackKeyError' });
});
