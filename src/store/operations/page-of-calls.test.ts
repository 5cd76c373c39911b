import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openDatabase } from '../sqlite/open-database.ts';
import { isInPage } from './page-of-calls.ts';

test('a later page is searched from the last row of the page before, not from the beginning of the span', () => {
  const connection = openDatabase(':memory:', { readOnly: false, busyTimeoutMs: 0 });
  connection.execute('create table calls (accepted_at_ms bigint, call_id text)');
  connection.execute('create index calls_by_time on calls (accepted_at_ms, call_id)');
  const span = { startMs: 10, endMs: 1000 };
  for (let atMs = 0; atMs < 1100; atMs += 50)
    for (const callId of ['a', 'b', 'c']) connection.run('insert into calls values (?, ?)', [atMs, callId]);
  const read = (page: ReturnType<typeof isInPage>): string[] =>
    connection
      .rows(`select accepted_at_ms, call_id from calls where ${page.sql} order by 1, 2 limit 3`, page.parameters)
      .map(([atMs, callId]) => `${String(atMs)} ${String(callId)}`);
  assert.deepEqual(read(isInPage(span)), ['50 a', '50 b', '50 c']);
  const later = isInPage({ ...span, after: { acceptedAtMs: 900, callId: 'b' } });
  assert.deepEqual(read(later), ['900 c', '950 a', '950 b']);
  // SQLite uses the first bound for its index.
  const [plan] = connection.rows(`explain query plan select call_id from calls where ${later.sql}`, later.parameters);
  assert.match(String(plan?.[3]), /calls_by_time \(accepted_at_ms>\? AND accepted_at_ms<\?\)$/);
  assert.match(later.sql, /^accepted_at_ms >= \?/);
  assert.equal(later.parameters[0], 900);
  connection.close();
});
