import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createCallbackOperations } from '../../../src/store/operations/callback-operations.ts';
import type { Database } from '../../../src/store/operations/database.ts';
import type { SqlParameter } from '../../../src/store/operations/sql-values.ts';
import { openStoreDatabase } from '../../../src/store/sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../../../src/store/sqlite/sqlite-database.ts';
import { createVideoTaskOperations } from '../../../src/store/operations/video-task-operations.ts';
import { startMs } from '../suite-start.ts';
import { createDelivery, createTask, endOf, entryOf, mediaOf, progressOf } from './task-fixtures.ts';
import { changeAt } from '../../../src/audit/testing/test-change.ts';

/** A database that records its statements and their parameters. */
function watchStatements(database: Database) {
  const statements = new Map<string, readonly SqlParameter[]>();
  const note =
    <Result>(run: (sql: string, ...parameters: readonly SqlParameter[]) => Result) =>
    (sql: string, ...parameters: readonly SqlParameter[]): Result => {
      statements.set(sql, parameters);
      return run(sql, ...parameters);
    };
  const watch = (watched: Database): Database => ({
    ...watched,
    run: note(watched.run),
    first: note(watched.first),
    all: note(watched.all),
    transact: (work, isolation) => watched.transact((transaction) => work(watch(transaction)), isolation),
  });
  return { statements, database: watch(database) };
}

/** Runs every operation on tasks and callbacks. */
async function useEverything(database: Database): Promise<void> {
  const tasks = createVideoTaskOperations(database);
  const callbacks = createCallbackOperations(database);
  const lease = { owner: 'me', untilMs: startMs };
  const claim = { owner: 'me', nowMs: startMs, leaseUntilMs: startMs + 1, limit: 50 };
  const [first, second] = [createTask('a'), createTask('b')];
  const idempotency = { keyId: 'key-1', key: 'once', bodyHash: 'hash', untilMs: startMs + 1 };
  await tasks.insertTask(first, lease, idempotency);
  await tasks.insertTask(first, lease, idempotency);
  await tasks.insertTask(second, lease);
  await tasks.refuseTask({ id: 'b', owner: 'me', entry: entryOf(second) });
  const accepted = { upstreamTaskId: 'up', phase: 'queued', progress: 0, nowMs: startMs, nextPollAtMs: startMs } as const;
  await tasks.acceptTask({ id: 'a', owner: 'me', ...accepted, sealed: Uint8Array.from([1]) });
  assert.equal((await tasks.claimTasks(claim)).length, 1);
  assert.equal((await tasks.claimTasks({ ...claim, storingMax: 9 })).length, 0);
  await tasks.renewTask({ id: 'a', owner: 'me', leaseUntilMs: startMs + 9 });
  await tasks.recordProgressGroup([progressOf(first, 'me')]);
  await tasks.countTasks(startMs);
  await tasks.heldFor('ann');
  await tasks.endTask(endOf(first, { media: mediaOf('a'), expiresAtMs: startMs, deliveries: [createDelivery('d1')] }));
  await tasks.findTask({ userName: 'ann', id: 'a' });
  for (const order of ['asc', 'desc'] as const) {
    await tasks.listTasks({ userName: 'ann', limit: 9, order });
    await tasks.listTasks({ userName: 'ann', limit: 9, order, after: 'a' });
  }
  await tasks.unknownMedia(['media-a']);
  await tasks.mediaBytes({ userName: 'ann' });
  await tasks.mediaBytes({ userName: 'ann', keyId: 'key-1' });
  assert.equal((await tasks.expireMedia({ nowMs: startMs, limit: 9 })).length, 1);
  await tasks.sweepTasks({ endedBeforeMs: startMs, limit: 9 });
  assert.equal((await tasks.deleteTask({ userName: 'ann', id: 'a' })).type, 'deleted');
  assert.equal((await callbacks.claimDeliveries(claim)).length, 1);
  const attempt = { attempts: 1, nextAttemptAtMs: startMs } as const;
  await callbacks.recordAttempt({ id: 'd1', owner: 'me', status: 'given-up', ...attempt });
  await callbacks.listDeliveries({ userName: 'ann', limit: 9 });
  await callbacks.listDeliveries({ userName: 'ann', subject: 'video_1', limit: 9 });
  await callbacks.redeliver({ userName: 'ann', id: 'd1', change: changeAt(startMs) });
  await callbacks.sweepDeliveries({ beforeMs: startMs, limit: 9 });
  await callbacks.putCallbackSecrets({ userName: 'ann', current: Uint8Array.from([1]) });
  await callbacks.findCallbackSecrets('ann');
}

test('every statement finds its rows by an index, and none sorts its result', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-plans-'));
  const database = openStoreDatabase({ path: join(directory, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 1000 });
  context.after(() => {
    database.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const watched = watchStatements(createSqliteDatabase(database));
  await useEverything(watched.database);
  assert.ok(watched.statements.size > 40, `${watched.statements.size} statements`);
  for (const [sql, parameters] of watched.statements) {
    if (sql.startsWith('pragma')) continue;
    for (const { detail } of database.all(`explain query plan ${sql}`, parameters)) {
      assert.doesNotMatch(String(detail), /^SCAN (?!\d+-ROW VALUES CLAUSE)(?!.* USING (?:COVERING )?INDEX)|TEMP B-TREE/, sql);
    }
  }
  const planOf = (part: string): string =>
    [...watched.statements]
      .flatMap(([sql, parameters]) =>
        sql.includes(part) ? database.all(`explain query plan ${sql}`, parameters).map(({ detail }) => String(detail)) : [],
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
