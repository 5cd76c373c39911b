import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';

import type { AdminOptions } from '../admin-options.ts';
import { operation } from '../define-operation.ts';
import { createAdminLater } from './create-admin-later.ts';
import { quietOptions } from '../testing/quiet-options.ts';

const greet = operation({
  id: 'greetings.read',
  method: 'GET',
  path: '/greeting',
  summary: 'A greeting',
  access: 'anybody',
  handle: async () => ({ body: undefined }),
});

const optionsOf = (operations: AdminOptions<object>['operations']): AdminOptions<object> => ({
  operations,
  services: {},
  ...quietOptions,
});

describe('an admin server whose routes are made at its first request', () => {
  test('requests that arrive together are answered, and none after it has closed', async () => {
    const app = createAdminLater(optionsOf([greet]));
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true });
    const ask = async (): Promise<[number | undefined, string | undefined, string]> => {
      const sent = request({ agent, port, host: '127.0.0.1', path: '/health/live', method: 'GET' }).end();
      const [answer] = await once(sent, 'response');
      return [answer.statusCode, answer.headers.connection, await text(answer)];
    };
    const live = '{"live":true}';
    assert.deepEqual(await Promise.all([ask(), ask()]), [
      [200, 'keep-alive', live],
      [200, 'keep-alive', live],
    ]);
    agent.destroy();
    await app.close();
    await assert.rejects(ask(), { code: 'ECONNREFUSED' });
  });

  test('it closes without having had a request', async () => {
    const app = createAdminLater(optionsOf([greet]));
    await app.listen({ host: '127.0.0.1', port: 0 });
    await app.close();
    assert.equal(app.server.listening, false);
  });

  test('routes that cannot be made are a problem with the usual headers, and do not keep it from closing', async () => {
    const app = createAdminLater(optionsOf([greet, greet]));
    const { statusCode, headers, body } = await app.inject({ method: 'GET', url: '/health' });
    assert.deepEqual([statusCode, JSON.parse(body).code, JSON.parse(body).request_id], [500, 'internal_error', headers['x-request-id']]);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    await app.close();
  });
});
