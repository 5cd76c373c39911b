import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { describeRoles } from '../../src/store/postgres/roles.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { configOf, eventsOf, secret, spend, startReceiver, startUpstream } from './alert-bench.ts';

describe('alerts of two gateways on one PostgreSQL, with the least rights', { skip: skipPostgres }, () => {
  let server: PostgresServer | undefined;
  before(async () => {
    server = await startPostgres(['fsync=off']);
    await (await openPostgresStore({ url: server.url() })).close();
    await server.query(
      describeRoles({ gateway: 'weir_gateway', monitor: 'weir_monitor', operator: 'weir_operator', console: 'weir_console' }),
    );
  });
  after(() => server?.close());

  test('each threshold is one message, and a problem that only one gateway sees is announced once', async (context) => {
    const database = { url: server?.url('weir', 'weir_gateway'), poolSize: 4 };
    const { url, received } = await startReceiver(context);
    const upstream = await startUpstream(context);
    const channels = { ops: { type: 'callback', url, secret, privateAddresses: true } };
    const options = {
      config: configOf(upstream, { channels }, { database }),
      command: 'gateway',
      environment: { WEIR_PROOF_KEY: 'ab'.repeat(32) },
    } as const;
    await using first = await serveWeir(options);
    await using second = await serveWeir({ ...options, environment: { ...options.environment, WEIR_API_KEY: first.apiKey } });
    const store = await openPostgresStore({ url: server?.url() ?? '' });
    context.after(() => store.close());
    const [user] = await store.listUsers();
    assert.ok(user);
    await store.changeUserLimits(user.name, { spendTotal: '10' }, changeAt());
    const reach = async (tokens: number, count: number): Promise<void> => {
      assert.equal(await spend(tokens % 2 === 0 ? first : second, tokens), 200);
      await eventually(
        () => received.length,
        (length) => length >= count,
      );
    };
    await reach(50, 1);
    await reach(31, 2);
    await reach(14, 3);
    assert.deepEqual(eventsOf(received), ['alert.firing budget 50', 'alert.firing budget 80', 'alert.firing budget 95']);
    await store.changeUserLimits(user.name, { spendTotal: null }, changeAt());
    await eventually(
      () => received.length,
      (length) => length >= 4,
    );
    upstream.isDown = true;
    for (let tokens = 1; tokens <= 12; tokens += 1) await spend(first, tokens);
    await eventually(
      () => received.length,
      (length) => length >= 5,
    );
    upstream.isDown = false;
    await eventually(
      () => spend(first, 3).then(() => received.length),
      (length) => length >= 6,
    );
    assert.deepEqual(eventsOf(received).slice(3), [
      'alert.resolved budget 95',
      'alert.firing upstream_down',
      'alert.resolved upstream_down',
    ]);
    const stored = await store.listNotices({ limit: 100, undelivered: false });
    assert.equal(stored.length, 6);
  });
});
