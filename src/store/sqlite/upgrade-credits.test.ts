import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { verifyStart } from '../../billing/credits/credit-books.ts';
import { allPots } from '../../billing/credits/pots.ts';
import { migrations } from '../migrations/migrations.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

const acceptedAtMs = Date.UTC(2026, 10, 30, 23);

test('calls from before the migration to credits count for spend limits, also in sums above 64 bits, and are not owed by anybody', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-upgrade-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.db');
  const database = openDatabase(path, { readOnly: false, busyTimeoutMs: 0 });
  database.execute('create table schema_migrations (version bigint not null primary key, name text not null)');
  for (const { version, name, shared, sqlite } of migrations) {
    if (version > 7) break;
    for (const statement of [...shared, ...sqlite]) database.execute(statement);
    database.run('insert into schema_migrations (version, name) values (?, ?)', [version, name]);
  }
  const insert = `insert into calls (call_id, accepted_at_ms, user_name, key_name, requested_model, amount_nano_usd, billed, prompt_tokens,
    completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, entry) values (?, ?, 'ann', 'ci', 'm', ?, 1, 1, 1, 0, 0, 5, '{"keyId":"k"}')`;
  const amount = 2n ** 62n;
  for (const [index, hours] of [0, 0, 2].entries()) database.run(insert, [`call-${index}`, acceptedAtMs + hours * 3_600_000, amount + 1n]);
  database.close();

  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  const reports = await store.readPots(allPots({ userName: 'ann', keyId: 'k', acceptedAtMs }));
  const spent = new Map(reports.map(({ pot, spentNanoUsd }) => [pot.id, spentNanoUsd]));
  assert.equal(spent.get('key:2026-11-30:k'), 2n * amount + 2n);
  assert.equal(spent.get('user:2026-11:ann'), 2n * amount + 2n);
  assert.equal(spent.get('key:total:k'), 3n * amount + 3n);
  assert.deepEqual(await store.readBalances({ limit: 10 }), []);
  for (let cursor = verifyStart; ;) {
    const { problems, next } = await store.verifyBooks({ cursor, limit: 10 });
    assert.deepEqual(problems, []);
    if (next === undefined) break;
    cursor = next;
  }
});
