import { setTimeout as pause } from 'node:timers/promises';

import { systemClock } from '../../../src/platform/clock.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import type { VideoTask } from '../../../src/tasks/video-task.ts';
import { createDelivery, endOf, entryOf, progressOf } from './task-fixtures.ts';

/**
 * Works on the tasks of a database as one of several processes until none is open, and prints the id of each that it
 * has ended: `path`, its name.
 */
const [path = '', owner = ''] = process.argv.slice(2);
const store = await openSqliteStore({ path });

/** Three polls, then the end. */
async function work(task: VideoTask): Promise<void> {
  const nowMs = systemClock.nowMs();
  if (task.progress < 60) {
    await store.recordProgress(progressOf(task, owner, { phase: 'in_progress', progress: task.progress + 20, nowMs, nextPollAtMs: nowMs }));
    return;
  }
  const entry = entryOf(task, { charge: { amountNanoUsd: 1000n, lines: [] } });
  const deliveries = [createDelivery(`${task.id} by ${owner}`, { subject: task.id })];
  if (await store.endTask(endOf(task, { owner, entry, deliveries }))) process.stdout.write(`${task.id}\n`);
}

for (;;) {
  const nowMs = systemClock.nowMs();
  const claimed = await store.claimTasks({ owner, nowMs, leaseUntilMs: nowMs + 1000, limit: 5 });
  await Promise.all(claimed.map(work));
  if (claimed.length > 0) continue;
  if ((await store.countTasks(nowMs)).open === 0) break;
  await pause(10);
}
await store.close();
