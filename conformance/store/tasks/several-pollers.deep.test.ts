import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { runToEnd } from '../../programs/run-weir.ts';
import { eventually } from '../../support/http.ts';
import { startMs, startSeconds } from '../suite-start.ts';
import { addOpenTask } from './task-fixtures.ts';

const tasks = 150;

test(`three processes work on ${tasks} tasks and one is killed: every task ends, is charged and is reported once`, async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-pollers-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'weir.sqlite');
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  for (let index = 0; index < tasks; index += 1) await addOpenTask(store, `t${index}`, { nextPollAtMs: startMs + index });

  const main = fileURLToPath(new URL('./poll-tasks-main.ts', import.meta.url));
  const killed = spawn(process.execPath, [main, path, 'killed'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  killed.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  await eventually(
    () => printed.split('\n').length,
    (lines) => lines > 5,
    30_000,
  );
  const others = ['second', 'third'].map((name) => runToEnd(process.execPath, [main, path, name]));
  killed.kill('SIGKILL');
  await once(killed, 'close');
  const ended = [printed];
  for (const { code, stdout, stderr } of await Promise.all(others)) {
    assert.deepEqual([code, stderr], [0, '']);
    ended.push(stdout);
  }

  const ids = ended.flatMap((text) => text.split('\n')).filter((line) => line !== '');
  assert.equal(new Set(ids).size, ids.length, 'no task was ended twice');
  assert.ok(ids.length >= tasks - 5, 'only tasks in progress in the killed process were not printed');
  const day = { startSeconds, endSeconds: startSeconds + 86_400 };
  const [row] = await store.queryStatistics({ ...day, buckets: [day], rowsMax: 10 });
  assert.deepEqual([row?.callCount, row?.amountNanoUsd], [tasks, 1000n * BigInt(tasks)]);
  const deliveries = await store.listDeliveries({ userName: 'ann', limit: 1000 });
  assert.equal(deliveries.length, tasks);
  assert.equal(new Set(deliveries.map(({ subject }) => subject)).size, tasks);
  const listed = await store.listTasks({ userName: 'ann', limit: 1000, order: 'asc' });
  assert.ok(listed.every(({ phase, progress, chargedNanoUsd }) => phase === 'completed' && progress === 100 && chargedNanoUsd === 1000n));
});
