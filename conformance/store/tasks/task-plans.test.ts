import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createCallbackOperations } from '../../../src/store/sqlite/callback-operations.ts';
import type { Database, SqlParameter } from '../../../src/store/sqlite/open-database.ts';
import { openStoreDatabase } from '../../../src/store/sqlite/open-store-database.ts';
import { createVideoTaskOperations } from '../../../src/store/sqlite/video-task-operations.ts';
import { startMs } from '../suite-start.ts';
import { createDelivery, createTask, endOf, entryOf, mediaOf, progressOf } from './task-fixtures.ts';

/** A database that keeps the statements that were run on it, and what they were run with. */
function watchStatements(database: Database) {
  const statements = new Map<string, readonly SqlParameter[]>();
  const watched =
    <Result>(run: (sql: string, ...parameters: readonly SqlParameter[]) => Result) =>
    (sql: string, ...parameters: readonly SqlParameter[]): Result => {
      statements.set(sql, parameters);
      return run(sql, ...parameters);
    };
  const { run, first, all } = database;
  return { statements, database: { ...database, run: watched(run), first: watched(first), all: watched(all) } };
}

/** Does all that can be done with tasks and callbacks. */
function useEverything(database: Database): void {
  const tasks = createVideoTaskOperations(database);
  const callbacks = createCallbackOperations(database);
  const lease = { owner: 'me', untilMs: startMs };
  const claim = { owner: 'me', nowMs: startMs, leaseUntilMs: startMs + 1, limit: 50 };
  const [first, second] = [createTask('a'), createTask('b')];
  const idempotency = { keyId: 'key-1', key: 'once', bodyHash: 'hash', untilMs: startMs + 1 };
  tasks.insertTask(first, lease, idempotency);
  tasks.insertTask(first, lease, idempotency);
  tasks.insertTask(second, lease);
  tasks.refuseTask({ id: 'b', owner: 'me', entry: entryOf(second) });
  const accepted = { upstreamTaskId: 'up', phase: 'queued', progress: 0, nowMs: startMs, nextPollAtMs: startMs } as const;
  tasks.acceptTask({ id: 'a', owner: 'me', ...accepted, sealed: Uint8Array.from([1]) });
  assert.equal(tasks.claimTasks(claim).length, 1);
  assert.equal(tasks.claimTasks({ ...claim, storingMax: 9 }).length, 0);
  tasks.renewTask({ id: 'a', owner: 'me', leaseUntilMs: startMs + 9 });
  tasks.recordProgressGroup([progressOf(first, 'me')]);
  tasks.countTasks(startMs);
  tasks.heldFor('ann');
  tasks.endTask(endOf(first, { media: mediaOf('a'), expiresAtMs: startMs, deliveries: [createDelivery('d1')] }));
  tasks.findTask({ userName: 'ann', id: 'a' });
  for (const order of ['asc', 'desc'] as const) {
    tasks.listTasks({ userName: 'ann', limit: 9, order });
    tasks.listTasks({ userName: 'ann', limit: 9, order, after: 'a' });
  }
  tasks.unknownMedia(['media-a']);
  tasks.mediaBytes({ userName: 'ann' });
  tasks.mediaBytes({ userName: 'ann', keyId: 'key-1' });
  assert.equal(tasks.expireMedia({ nowMs: startMs, limit: 9 }).length, 1);
  tasks.sweepTasks({ endedBeforeMs: startMs, limit: 9 });
  assert.equal(tasks.deleteTask({ userName: 'ann', id: 'a' }).type, 'deleted');
  assert.equal(callbacks.claimDeliveries(claim).length, 1);
  const attempt = { attempts: 1, nextAttemptAtMs: startMs } as const;
  callbacks.recordAttempt({ id: 'd1', owner: 'me', status: 'given-up', ...attempt });
  callbacks.listDeliveries({ userName: 'ann', limit: 9 });
  callbacks.listDeliveries({ userName: 'ann', subject: 'video_1', limit: 9 });
  callbacks.redeliver({ userName: 'ann', id: 'd1', nowMs: startMs });
  callbacks.sweepDeliveries({ beforeMs: startMs, limit: 9 });
  callbacks.putCallbackSecrets({ userName: 'ann', current: Uint8Array.from([1]) });
  callbacks.findCallbackSecrets('ann');
}

test('every statement finds its rows by an index, and none sorts what it has found', (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-plans-'));
  const database = openStoreDatabase({ path: join(directory, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 1000 });
  context.after(() => {
    database.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const watched = watchStatements(database);
  useEverything(watched.database);
  assert.ok(watched.statements.size > 40, `${watched.statements.size} statements`);
  for (const [sql, parameters] of watched.statements) {
    if (sql.startsWith('pragma')) continue;
    for (const { detail } of database.all(`explain query plan ${sql}`, ...parameters)) {
      assert.doesNotMatch(String(detail), /^SCAN (?!.* USING (?:COVERING )?INDEX)|TEMP B-TREE/, sql);
    }
  }
  const planOf = (part: string): string =>
    [...watched.statements]
      .flatMap(([sql, parameters]) =>
        sql.includes(part) ? database.all(`explain query plan ${sql}`, ...parameters).map(({ detail }) => String(detail)) : [],
      )
      .join('\n');
  for (const [part, index] of [
    ['order by next_poll_at_ms', 'INDEX video_tasks_due (next_poll_at_ms<?)'],
    ['sum(held_nano_usd', 'COVERING INDEX video_tasks_held (user_name=? AND phase<?)'],
    ['sum(media_bytes)', 'COVERING INDEX video_tasks_media_bytes (user_name=?'],
    ['order by expires_at_ms', 'INDEX video_tasks_by_expiry (expires_at_ms<?)'],
    ['order by next_attempt_at_ms', 'INDEX callback_deliveries_due (next_attempt_at_ms<?)'],
    ['count(alert_since_ms)', 'USING INDEX video_tasks_held'],
  ] as const)
    assert.ok(planOf(part).includes(index), `${part}: ${planOf(part)}`);
});
