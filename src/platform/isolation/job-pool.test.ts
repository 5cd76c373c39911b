import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';

import type * as HostileJob from './testing/fake-hostile-job.ts';
import type { Hostility } from './testing/fake-hostile-job.ts';
import { isolatedJob, JobError, type JobFailure } from './isolated-job.ts';
import { createJobPool, type JobPool, type JobPoolOptions } from './job-pool.ts';
import { readPoolFigures } from './pool-figures.ts';

const hostileJob = isolatedJob<typeof HostileJob>('hostile', new URL('./testing/fake-hostile-job.ts', import.meta.url));
const never = new AbortController().signal;

function openPool(context: TestContext, options: Partial<JobPoolOptions> = {}): JobPool {
  const pool = createJobPool({
    name: context.name,
    threadsMax: 1,
    memoryMegabytes: 48,
    timeoutMs: 20_000,
    outputBytesMax: 1_000_000,
    waitingMax: 100,
    waitingPerTenantMax: 50,
    ...options,
  });
  context.after(() => pool.close());
  return pool;
}

const run = (pool: JobPool, input: Hostility, options: { tenant?: string; signal?: AbortSignal; timeoutMs?: number } = {}) =>
  pool.run(hostileJob, input, { tenant: 'one', signal: never, ...options });

const figuresOf = (context: TestContext) => readPoolFigures().find(({ pool }) => pool === context.name);

async function failureOf(job: Promise<unknown>): Promise<JobFailure> {
  const error = await job.then(
    () => assert.fail('the job must fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof JobError, String(error));
  return error.failure;
}

describe('jobs on foreign bytes', () => {
  test('a job that loops is terminated at its limit, the event loop runs meanwhile, and the next job gets a new thread', async (context) => {
    const pool = openPool(context);
    for (const does of ['loop', 'loop in microtasks', 'backtrack', 'never end'] as const) {
      let turns = 0;
      const turning = setInterval(() => (turns += 1), 10);
      assert.equal(await failureOf(run(pool, { does }, { timeoutMs: 200 })), 'too-long', does);
      clearInterval(turning);
      assert.ok(turns > 2, `${does}: the loop turned ${turns} times`);
      assert.equal(await run(pool, { does: 'echo', value: does }), does);
    }
    assert.deepEqual(
      { ...figuresOf(context), outcomes: Object.fromEntries(figuresOf(context)?.outcomes ?? []) },
      { pool: context.name, threads: 1, waiting: 0, running: 0, terminated: 4, outcomes: { 'too-long': 4, done: 4 } },
    );
  });

  test('a job that takes too much memory, of the heap or of buffers, is terminated, and the process survives', async (context) => {
    const pool = openPool(context);
    for (const does of ['fill the heap', 'fill buffers'] as const)
      assert.equal(await failureOf(run(pool, { does })), 'too-much-memory', does);
    assert.equal(await run(pool, { does: 'echo', value: 1 }), 1);
  });

  // V8 ends the process if such an allocation exceeds its own limit.
  test('a job whose list grows beyond its memory is terminated, and the process survives', async (context) => {
    const pool = openPool(context, { memoryMegabytes: 128 });
    assert.equal(await failureOf(run(pool, { does: 'fill a list' })), 'too-much-memory');
    assert.equal(await run(pool, { does: 'echo', value: 1 }), 1);
  });

  test('a result that is too large is not sent to the main thread', async (context) => {
    const pool = openPool(context, { outputBytesMax: 1000 });
    assert.equal(await failureOf(run(pool, { does: 'write', bytes: 5000 })), 'too-much-output');
    assert.deepEqual(await run(pool, { does: 'write', bytes: 500 }), Buffer.alloc(500));
  });

  test('an error of a job reports its message, and an exit of its thread is a different failure', async (context) => {
    const pool = openPool(context);
    await assert.rejects(run(pool, { does: 'throw', message: 'damaged' }), /hostile: damaged/);
    assert.equal(await failureOf(run(pool, { does: 'throw', message: '' })), 'threw');
    assert.equal(await failureOf(run(pool, { does: 'exit' })), 'crashed');
    assert.equal(await run(pool, { does: 'echo', value: 'well' }), 'well');
  });

  test('a thread that could not load the code of a job does no other job', async (context) => {
    const pool = openPool(context);
    const missing = isolatedJob<typeof HostileJob>('missing', new URL('./testing/no-such-job.ts', import.meta.url));
    const failed = pool.run(missing, { does: 'echo', value: 1 }, { tenant: 'one', signal: never });
    assert.equal(await failureOf(failed), 'crashed');
    assert.equal(figuresOf(context)?.terminated, 1);
    assert.equal(await run(pool, { does: 'echo', value: 'next' }), 'next');
  });

  test('a thread that cannot be started does not take its slot with it', async (context) => {
    // Node refuses the name at once, as it refuses a thread that the system has no room for.
    const pool = openPool(context, { name: 5 as unknown as string });
    for (let attempt = 1; attempt <= 3; attempt += 1)
      await assert.rejects(run(pool, { does: 'echo', value: attempt }), { code: 'ERR_INVALID_ARG_TYPE' });
  });

  test('an input that cannot be cloned rejects, and costs no thread', async (context) => {
    const pool = openPool(context);
    await assert.rejects(run(pool, { does: 'echo', value: () => {} }), /could not be cloned/);
    assert.equal(await run(pool, { does: 'echo', value: 'next' }), 'next');
    assert.equal(figuresOf(context)?.terminated, 0);
  });

  test('questions of a job are answered on the main thread, and a refusal reaches the job', async (context) => {
    const pool = openPool(context);
    const answer = (question: number): string => {
      if (question === 2) throw new Error('refused');
      return `answer ${question}`;
    };
    const answered = await pool.run(hostileJob, { does: 'ask', questions: [1, 2, 3] }, { tenant: 'one', signal: never, answer });
    assert.deepEqual(answered, ['answer 1', 'refused', 'answer 3']);
  });

  test('an answer that cannot be cloned reaches the job as a refusal', async (context) => {
    const pool = openPool(context);
    const answer = (): string => (() => {}) as unknown as string;
    const [refusal] = (await pool.run(hostileJob, { does: 'ask', questions: [1] }, { tenant: 'one', signal: never, answer })) as string[];
    assert.match(refusal ?? '', /could not be cloned/);
  });

  test('an aborted job leaves the queue, or its thread is terminated, and the next job runs', async (context) => {
    const pool = openPool(context);
    const leaving = new AbortController();
    const left = [run(pool, { does: 'loop' }, { signal: leaving.signal }), run(pool, { does: 'loop' }, { signal: leaving.signal })];
    const kept = run(pool, { does: 'echo', value: 'kept' });
    leaving.abort(new Error('left'));
    for (const job of left) await assert.rejects(job, /left/);
    assert.equal(await kept, 'kept');
    await assert.rejects(run(pool, { does: 'loop' }, { signal: AbortSignal.abort(new Error('gone')) }), /gone/);
  });

  test('a tenant whose jobs loop keeps a thread free for others', async (context) => {
    const pool = openPool(context, { threadsMax: 2 });
    const leaving = new AbortController();
    const hostile = Array.from({ length: 10 }, () => run(pool, { does: 'loop' }, { tenant: 'hostile', signal: leaving.signal }));
    const jobs = Array.from({ length: 20 }, (_, value) => run(pool, { does: 'echo', value }, { tenant: `tenant-${value}` }));
    assert.deepEqual(
      await Promise.all(jobs),
      Array.from({ length: 20 }, (_, value) => value),
    );
    leaving.abort(new Error('left'));
    for (const job of hostile) await assert.rejects(job, /left/);
  });

  test('a full queue refuses at once: for one tenant, and for all', async (context) => {
    const pool = openPool(context, { waitingMax: 3, waitingPerTenantMax: 2 });
    const leaving = new AbortController();
    const loop = (tenant: string): Promise<unknown> => run(pool, { does: 'loop' }, { tenant, signal: leaving.signal });
    const taken = [loop('a'), loop('a'), loop('a')];
    assert.equal(await failureOf(loop('a')), 'too-busy');
    taken.push(loop('b'));
    assert.equal(await failureOf(loop('c')), 'too-busy');
    leaving.abort(new Error('left'));
    for (const job of taken) await assert.rejects(job, /left/);
  });

  test('no thread exists before the first job, and idle threads end', async (context) => {
    const pool = openPool(context, { idleMs: 20 });
    assert.equal(figuresOf(context)?.threads, 0);
    await run(pool, { does: 'echo', value: 1 });
    assert.equal(figuresOf(context)?.threads, 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(figuresOf(context)?.threads, 0);
    assert.equal(await run(pool, { does: 'echo', value: 2 }), 2);
  });

  test('closing ends waiting and running jobs, and refuses later ones', async (context) => {
    const pool = openPool(context);
    const jobs = [run(pool, { does: 'loop' }), run(pool, { does: 'loop' })];
    const failures = jobs.map((job) => failureOf(job));
    await pool.close();
    assert.deepEqual(await Promise.all(failures), ['closed', 'closed']);
    assert.equal(await failureOf(run(pool, { does: 'echo', value: 1 })), 'closed');
    assert.equal(figuresOf(context)?.threads, 0);
  });
});
