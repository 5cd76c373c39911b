import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { startMs } from '../suite-start.ts';
import { addEndedTask, createTask, entryOf } from './task-fixtures.ts';

test('no file of the database keeps sealed bytes of deleted, forgotten, refused or replaced data after a sweep', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-traces-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
  context.after(() => store.close());
  /** Large enough for pages of its own, which is where traces remain. */
  const sealed = (): Uint8Array<ArrayBuffer> => Uint8Array.from(randomBytes(40_000));
  const [deleted, forgotten, refused, replaced, kept] = [sealed(), sealed(), sealed(), sealed(), sealed()];
  const findInFiles = async (bytes: Uint8Array): Promise<readonly string[]> => {
    const names = await readdir(directory);
    const contents = await Promise.all(names.map((name) => readFile(join(directory, name))));
    return names.filter((_, index) => contents[index]?.includes(bytes.subarray(20_000, 20_032)));
  };
  const lease = { owner: 'me', untilMs: startMs };
  await addEndedTask(store, 'deleted', { sealed: deleted });
  await addEndedTask(store, 'forgotten', { sealed: forgotten });
  await store.insertTask(createTask('refused', { sealed: refused }), lease);
  await store.insertTask(createTask('replaced', { sealed: replaced }), lease);
  for (const bytes of [deleted, forgotten, refused, replaced]) assert.notDeepEqual(await findInFiles(bytes), []);
  const accepted = { upstreamTaskId: 'up', phase: 'queued', progress: 0, nowMs: startMs, nextPollAtMs: startMs } as const;
  const sweep = (): Promise<readonly string[]> => store.expireMedia({ nowMs: startMs, limit: 10 });
  await store.deleteTask({ userName: 'ann', id: 'deleted' });
  await sweep();
  assert.equal(await store.sweepTasks({ endedBeforeMs: startMs + 1e9, limit: 10 }), 1);
  await sweep();
  await store.refuseTask({ id: 'refused', owner: 'me', entry: entryOf(createTask('refused')) });
  await sweep();
  await store.acceptTask({ id: 'replaced', owner: 'me', ...accepted, sealed: kept });
  await sweep();
  for (const bytes of [deleted, forgotten, refused, replaced]) assert.deepEqual(await findInFiles(bytes), []);
  assert.notDeepEqual(await findInFiles(kept), []);
});
