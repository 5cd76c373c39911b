import assert from 'node:assert/strict';
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { call, eventually } from '../support/http.ts';
import { startWeir } from '../support/start-weir.ts';
import { startVideosProgram, type VideosBench } from './start-videos-bench.ts';
import { auditTasks, type MadeVideo, mediaFiles, steerJob } from './task-books.ts';

// As long as the lease of a dead process, which the next one waits for, and a margin.
const recoveredWithinMs = 120_000;

const idOf = (bench: VideosBench, prompt: string): unknown => bench.simulator.videos().find((job) => job['prompt'] === prompt)?.['id'];

/** The store refuses every write while `work` runs: its effects outside of the store happen, and are not recorded. */
async function withStoreLocked(dataDirectory: string, work: () => Promise<void>): Promise<void> {
  const database = openDatabase(join(dataDirectory, 'weir.sqlite'), { readOnly: false, busyTimeoutMs: 30_000 });
  database.execute('begin immediate');
  try {
    await work();
  } finally {
    database.execute('rollback');
    database.close();
  }
}

/** Makes every file of a dead process old enough for the sweep. */
function ageFiles(dataDirectory: string): number {
  const { whole, unfinished } = mediaFiles(dataDirectory);
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
  for (const path of [...whole, ...unfinished]) utimesSync(path, twoDaysAgo, twoDaysAgo);
  return whole.length + unfinished.length;
}

/**
 * Kills the only process while videos are being submitted, polled, copied, and stored but not settled, and starts
 * another on its data. Each video ends once.
 */
export async function killEverywhere(context: TestContext): Promise<void> {
  await using bench = await startVideosProgram();
  const { dataDirectory } = bench.weir;
  const config = readFileSync(join(dataDirectory, 'weir.yaml'), 'utf8');
  const created: MadeVideo[] = [];
  const make = async (prompt: string, script: string): Promise<string> => {
    const id = await bench.make({ prompt, duration: 1 }, { headers: { 'x-simulator-video': script } });
    created.push({ id, prompt });
    return id;
  };
  const progressOf = (id: string) => bench.ask('GET', `/videos/${id}`).then(({ json }) => Number(json.progress));

  await bench.ended(await make('finished before', 'ms=100'));
  await make('polling', 'end=never');
  const copying = await make('copying', 'ms=100;content=slow;content-rate=500');
  // The answers of these are still in transit when the process dies, and their clients never receive an id.
  for (const [prompt, model] of [
    ['submitting, without idempotency', 'vendor-imagine-video'],
    ['submitting, with idempotency', 'chained'],
  ] as const) {
    bench.make({ prompt, model, duration: 1 }, { headers: { 'x-simulator-video': 'ms=100;accept-ms=600000' } }).catch(() => undefined);
    await eventually(
      () => idOf(bench, prompt),
      (id) => id !== undefined,
    );
  }
  await eventually(
    () => progressOf(copying),
    (progress) => progress === 99,
    40_000,
  );
  const settling = await make('settling', 'ms=100;content=slow;content-rate=500');
  await eventually(
    () => mediaFiles(dataDirectory).unfinished.length,
    (count) => count === 2,
    40_000,
  );
  assert.equal(await progressOf(settling), 99);
  const before = mediaFiles(dataDirectory).whole.length;
  await withStoreLocked(dataDirectory, async () => {
    // Only when no process can record that the file exists.
    await steerJob(bench.simulator, 'settling', 'content-rate=10000000');
    await eventually(
      () => mediaFiles(dataDirectory).whole.length,
      (count) => count > before,
      40_000,
    );
    await bench.weir.stop('SIGKILL');
  });

  const left = mediaFiles(dataDirectory);
  assert.deepEqual([left.whole.length - before, left.unfinished.length], [1, 1], 'one file without a row, one that is half written');
  const aged = ageFiles(dataDirectory);
  await steerJob(bench.simulator, 'copying', 'content=no-length');
  await steerJob(bench.simulator, 'polling', 'end=done');

  const restartedAt = performance.now();
  await using again = await startWeir({ dataDirectory, config });
  const ask = (path: string) => call(`${again.gatewayUrl}/v1${path}`, { headers: { authorization: `Bearer ${again.apiKey}` } });
  const list = async () => (await ask('/videos?limit=100')).json.data as { id: string; status: string; error?: { code: string } }[];
  const over = await eventually(
    list,
    (tasks) => tasks.every(({ status }) => status === 'completed' || status === 'failed'),
    recoveredWithinMs,
  );
  const lost = over.filter(({ error }) => error?.code === 'submission_lost');
  const unnamed = over.filter(({ id }) => created.every((one) => one.id !== id));
  assert.deepEqual([over.length, unnamed.length, lost.length], [6, 2, 1]);
  for (const { id } of unnamed)
    created.push({ id, prompt: id === lost[0]?.id ? 'submitting, without idempotency' : 'submitting, with idempotency' });
  const { problems, counts } = await auditTasks({ simulator: bench.simulator, dataDirectory, ask }, created);
  assert.deepEqual(problems, []);
  assert.deepEqual([counts['completed'], counts['failed'], counts['rows']], [5, 1, 6]);
  const submissions = bench.simulator.videos().map((job) => Number(job['submissions']));
  assert.deepEqual(
    submissions.toSorted((one, other) => one - other),
    [1, 1, 1, 1, 1, 2],
    'only the submission with idempotency was sent again',
  );
  const seconds = ((performance.now() - restartedAt) / 1000).toFixed(1);
  context.diagnostic(`${JSON.stringify(counts)}; all over ${seconds} s after the restart; files of the dead process found: ${aged}`);
}
