import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createOperations, type Operations } from '../../src/control/operations/create-operations.ts';
import { createOperationRunner } from '../../src/control/operations/operation-runner.ts';
import { openDatabase } from '../../src/main/assembly/open-data-directory.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createIds } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/log.ts';
import type { Store } from '../../src/store/store.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, signInByLink } from './console-client.ts';
import { openEvents } from './open-events.ts';

describe('running the gateway by the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let viewer: ConsoleClient;
  /** The database as another process sees it. */
  let store: Store;
  const opened = new AsyncDisposableStack();
  const silent = createLogger({ level: 'silent', destination: { write: () => {} } });

  before(async () => {
    weir = opened.use(await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, monitor: false }));
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    viewer = await addPerson('viewer');
    store = await openDatabase(readEnvironment({ WEIR_DATA_DIR: weir.dataDirectory }));
    opened.defer(() => store.close());
  });
  after(() => opened.disposeAsync());

  async function addPerson(role: string, users: readonly string[] = []): Promise<ConsoleClient> {
    const person = await operator.send('POST', '/api/v1/people', { name: `A ${role}`, role, ...(role === 'owner' && { users }) });
    assert.equal(person.status, 201, person.text);
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    return await signInByLink(weir.consoleUrl, String(link.body['url']));
  }

  describe('operations', () => {
    let operations: Operations;
    let release = Promise.withResolvers<void>();
    before(() => {
      operations = createOperations({ store, clock: systemClock, newId: createIds(systemClock) });
      const runner = createOperationRunner({
        store,
        clock: systemClock,
        logger: silent,
        pollMs: 20,
        reportMs: 20,
        handlers: {
          'test.count': async (_input, { report, signal }) => {
            report({ done: 1, total: 2, unit: 'steps' });
            signal.addEventListener('abort', () => release.resolve());
            await release.promise;
            return { counted: 2 };
          },
        },
      });
      runner.start();
      opened.defer(() => runner.close());
    });
    const change = { actor: 'cli:test', via: 'cli', atMs: 1 } as const;
    const start = (permission: 'prices:stage' | 'usage:read') => {
      release = Promise.withResolvers();
      return operations.start({ kind: 'test.count', permission, input: { steps: 2 }, change, isAudited: true });
    };

    test('an operation is followed by events, from the last one that was received, and its result is read later', async () => {
      const { id } = await start('usage:read');
      const path = `/api/v1/operations/${id}`;
      const events = await openEvents(weir.consoleUrl, viewer.cookie(), `${path}/events`);
      const running = await events.until(({ data }) => data['state'] === 'running' && data['progress'] !== null);
      assert.deepEqual(running.data['progress'], { done: 1, total: 2, unit: 'steps', partial: null });
      await events.close();
      release.resolve();
      const rest = await openEvents(weir.consoleUrl, viewer.cookie(), `${path}/events`, { 'last-event-id': running.id });
      const all = await rest.all();
      assert.deepEqual([all.length, all.at(-1)?.data['state']], [1, 'done']);
      const { status, body } = await viewer.send('GET', path);
      assert.deepEqual([status, body['result'], body['actor'], body['attempts']], [200, { counted: 2 }, 'cli:test', 1]);
      assert.equal((await operator.send('DELETE', path)).body['code'], 'conflict');
    });

    test('cancelling stops it and is audited; without its permission it does not exist', async () => {
      const { id } = await start('prices:stage');
      const path = `/api/v1/operations/${id}`;
      for (const [method, suffix] of [
        ['GET', ''],
        ['GET', '/events'],
        ['DELETE', ''],
      ] as const)
        assert.equal((await viewer.send(method, `${path}${suffix}`)).status, 404, method + suffix);
      const cancelled = await operator.send('DELETE', path);
      assert.equal(cancelled.status, 202, cancelled.text);
      const end = await operations.ended(id, AbortSignal.timeout(10_000));
      assert.equal(end.state, 'cancelled');
      const audit = await operator.send('GET', `/api/v1/audit?subject=operation:${id}`);
      assert.deepEqual(
        (audit.body['items'] as { action: string }[]).map(({ action }) => action),
        ['operations.cancel', 'test.count'],
      );
    });

    test('a person who may see some users only sees what they began themselves', async () => {
      await operator.send('POST', '/api/v1/users', { name: 'opal' });
      const owner = await addPerson('owner', ['opal']);
      const { id } = await start('usage:read');
      release.resolve();
      assert.equal((await owner.send('GET', `/api/v1/operations/${id}`)).status, 404);
      const { body } = await owner.send('GET', '/api/v1/session');
      const actor = `person:${String((body['person'] as { name: string }).name)}`;
      const own = await operations.start({
        kind: 'test.count',
        permission: 'usage:read',
        input: 1,
        change: { ...change, actor },
        isAudited: false,
      });
      assert.equal((await owner.send('GET', `/api/v1/operations/${own.id}`)).status, 200);
    });
  });
});
