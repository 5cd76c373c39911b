import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { permissions } from '../../src/accounts/people/permissions.ts';
import { operations } from '../../src/admin/resources/registry.ts';
import type { AdminService } from '../../src/admin/service/admin-service.ts';
import { createLocalService } from '../../src/admin/service/local-service.ts';
import { createRemoteService } from '../../src/admin/service/remote-service.ts';
import { openDatabase } from '../../src/main/assembly/open-data-directory.ts';
import { openAdminServices } from '../../src/main/assembly/open-admin-services.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { signInByLink } from './console-client.ts';

/** The operation with this id, without its types: tests read answers by their names. */
const operation = (id: string) => operations.find((each) => each.id === id) ?? assert.fail(id);

describe('the operations as functions', () => {
  let weir: ServedWeir;
  let token: string;
  const opened = new AsyncDisposableStack();
  const services: Record<string, AdminService> = {};
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' } });
    const operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    const wanted = permissions.filter((permission) => permission !== 'content:read');
    token = String((await operator.send('POST', '/api/v1/admin_tokens', { name: 'cli', permissions: wanted })).body['secret']);
    const environment = readEnvironment({ WEIR_DATA_DIR: weir.dataDirectory });
    const store = await openDatabase(environment);
    opened.defer(() => store.close());
    const own = openAdminServices({ store, clock: systemClock, environment }, () => weir.consoleUrl);
    const principal = { permissions: new Set(permissions), users: 'all', author: { actor: 'cli:test', via: 'cli' } } as const;
    services['local'] = createLocalService({ services: own.services, principal, clock: systemClock });
    services['remote'] = createRemoteService({ address: new URL(weir.consoleUrl), token, send: fetch });
  });
  after(async () => {
    await opened.disposeAsync();
    await weir[Symbol.asyncDispose]();
  });

  for (const place of ['local', 'remote']) {
    const service = (): AdminService => services[place] ?? assert.fail(place);

    test(`${place}: an answer, a stream and a refusal`, async () => {
      const { body } = await service().call(operation('audit.list'), { query: { limit: 1 } });
      const { items, next_cursor } = body as { items: { sequence: number }[]; next_cursor: string };
      assert.deepEqual([items.length, typeof next_cursor], [1, 'string']);
      let lines = '';
      for await (const piece of service().stream(operation('audit.export'))) lines += Buffer.from(piece).toString();
      assert.equal(lines.trim().split('\n').length, items[0]?.sequence);
      await assert.rejects(service().call(operation('audit.list'), { query: { limit: 0 } }), {
        name: 'AdminProblem',
        code: 'invalid_request',
        message: /query parameter limit must be at least 1; got 0/,
      });
      await assert.rejects(service().call(operation('users.get'), { params: { name: 'no/body?' } }), { code: 'not_found' });
    });

    test(`${place}: a change is made and has its version`, async () => {
      const made = await service().call(operation('users.create'), { body: { name: `user-${place}` } });
      const changed = await service().call(operation('users.update'), {
        params: { name: `user-${place}` },
        body: { limits: { concurrency: 3 } },
      });
      assert.equal((changed.body as { limits: { concurrency: number } }).limits.concurrency, 3);
      assert.ok((changed.version ?? 0) > (made.version ?? 0));
    });
  }

  test('a wrong token and a console that does not answer are named', async () => {
    const wrong = createRemoteService({ address: new URL(weir.consoleUrl), token: 'at-weir-wrong', send: fetch });
    await assert.rejects(wrong.call(operation('audit.list')), { code: 'unauthenticated' });
    const closed = createRemoteService({ address: new URL('http://127.0.0.1:1'), token, send: fetch });
    await assert.rejects(closed.call(operation('audit.list')), { code: 'unavailable', message: /127\.0\.0\.1:1 does not answer/ });
  });
});
