import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { eventually } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';
import { auditTasks, type MadeVideo, steerJob } from './task-books.ts';

type Row = {
  readonly hazard: string;
  readonly script: string;
  /** The end of the task: `completed`, or the code of its error. */
  readonly end: string;
};

// Answers to polls without information about a video, and ends of every kind. All run at once, because each takes some
// polls.
const rows: readonly Row[] = [
  { hazard: 'F50 an unknown status', script: 'ms=3000;word=simmering', end: 'completed' },
  { hazard: 'F49 no status at all', script: 'ms=100;poll=empty;poll-times=2', end: 'completed' },
  { hazard: 'F46 an error page of a load balancer', script: 'ms=100;poll=html;poll-times=2', end: 'completed' },
  { hazard: 'F46 a broken connection', script: 'ms=100;poll=reset;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 404', script: 'ms=100;poll=404;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 429', script: 'ms=100;poll=429;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 500', script: 'ms=100;poll=500;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 503', script: 'ms=100;poll=503;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 401', script: 'ms=100;poll=401;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 403', script: 'ms=100;poll=403;poll-times=2', end: 'completed' },
  { hazard: 'F46 polls answered 410', script: 'ms=100;poll=410;poll-times=1', end: 'completed' },
  { hazard: 'progress that falls', script: 'ms=7000;progress=back', end: 'completed' },
  { hazard: 'no progress', script: 'ms=5000;progress=absent', end: 'completed' },
  { hazard: 'progress in words', script: 'ms=5000;progress=text', end: 'completed' },
  { hazard: 'failed, then completed', script: 'ms=100;end=failed;turn=done', end: 'upstream_failed' },
  { hazard: 'F43 failed', script: 'ms=100;end=failed;code=busy', end: 'upstream_failed' },
  { hazard: 'F43 expired', script: 'ms=100;end=expired', end: 'task_expired' },
  { hazard: 'moderated, which the vendor bills', script: 'ms=100;end=moderated', end: 'content_moderated' },
];

const rank: Readonly<Record<string, number>> = { queued: 0, in_progress: 1, completed: 2, failed: 2 };

/** Errors in the order of a task's events. */
function disorder(events: string): readonly string[] {
  const problems: string[] = [];
  let last = { status: 'queued', progress: 0 };
  for (const [, data] of events.matchAll(/^data: (.*)$/gm)) {
    const now = JSON.parse(data ?? '') as typeof last;
    if ((rank[now.status] ?? -1) < (rank[last.status] ?? -1)) problems.push(`from ${last.status} back to ${now.status}`);
    if (now.progress < last.progress) problems.push(`progress from ${last.progress} back to ${now.progress}`);
    if ((now.progress === 100) !== (now.status === 'completed')) problems.push(`${now.status} at ${now.progress}`);
    last = now;
  }
  if (rank[last.status] !== 2) problems.push(`the last event says ${last.status}`);
  return problems;
}

describe('M12: the reports of an upstream about a video', () => {
  let bench: VideosBench;
  before(async () => {
    bench = await startVideosBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  const make = (prompt: string, script: string) => bench.make({ prompt, duration: 1 }, { headers: { 'x-simulator-video': script } });

  test('F43, F46, F49, F50: an answer without information does not change a task, no state goes back, and each end is settled once', async (context) => {
    const created: MadeVideo[] = [];
    await Promise.all(
      rows.map(async ({ hazard, script, end }) => {
        const id = await make(hazard, script);
        created.push({ id, prompt: hazard });
        const events = await bench.ask('GET', `/videos/${id}/events`);
        assert.deepEqual(disorder(events.text), [], hazard);
        const { json } = await bench.ask('GET', `/videos/${id}`);
        assert.equal(json.status === 'completed' ? 'completed' : json.error?.code, end, hazard);
      }),
    );
    const { dataDirectory } = bench.weir;
    const audit = await auditTasks({ simulator: bench.simulator, dataDirectory, ask: (path) => bench.ask('GET', path) }, created);
    assert.deepEqual(audit.problems, []);
    assert.deepEqual([audit.counts['completed'], audit.counts['failed'], audit.counts['billedFailures']], [14, 3, 1]);
    context.diagnostic(JSON.stringify(audit.counts));
  });

  test('F47, F51: a late video gets an alert and is delivered; one that is a day late, denied or withdrawn for ten minutes ends free', async () => {
    const never = 'end=never';
    const [late, tooLate, denied, takenBack] = await Promise.all([
      make('late', never),
      make('too late', never),
      make('denied', `${never};poll=404`),
      // Completed, then failed: the promised file does not exist, and never will.
      make('taken back', 'ms=100;turn=failed'),
    ]);
    // The clock is the machine's: instead of waiting, the tasks are made older.
    const database = openDatabase(join(bench.weir.dataDirectory, 'weir.sqlite'), { readOnly: false, busyTimeoutMs: 30_000 });
    const age = (id: string, minutes: number) =>
      database.run('update video_tasks set created_at_ms = created_at_ms - ? where id = ?', [minutes * 60_000, id]);
    const rowOf = (id: string) => database.first('select alert_reason, missing_since_ms from video_tasks where id = ?', [id]);
    age(late, 61);
    age(tooLate, 24 * 60 + 1);
    for (const id of [denied, takenBack]) {
      await eventually(
        () => rowOf(id)?.['missing_since_ms'],
        (since) => since !== null,
        60_000,
      );
      const errorOf = async (): Promise<object | undefined> => (await bench.ask('GET', `/videos/${id}`)).json.error;
      assert.equal(await errorOf(), undefined);
      // A running poll writes the time that it has read before: the task is made older until that persists.
      const older = 'update video_tasks set missing_since_ms = missing_since_ms - 600000 where id = ? and missing_since_ms > ?';
      await eventually(
        () => {
          database.run(older, [id, Date.now() - 300_000]);
          return errorOf();
        },
        (error) => error !== undefined,
        90_000,
      );
    }
    await eventually(
      () => rowOf(late)?.['alert_reason'],
      (reason) => String(reason).includes('not finished within its time'),
      60_000,
    );
    database.close();
    assert.equal((await bench.ask('GET', `/videos/${late}`)).json.error, undefined);
    await steerJob(bench.simulator, 'late', 'end=done;ms=0');
    const ends = await Promise.all([late, tooLate, denied, takenBack].map((id) => bench.ended(id)));
    assert.deepEqual(
      ends.map(({ status, error }) => error?.code ?? status),
      ['completed', 'upstream_timeout', 'task_lost', 'result_unavailable'],
    );
    for (const [id, state] of [
      [late, 'settled'],
      [tooLate, 'released'],
      [denied, 'released'],
      [takenBack, 'released'],
    ] as const)
      assert.equal((await bench.ask('GET', `/videos/${id}/receipt`)).json.state, state);
  });
});
