import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { eventually } from '../support/http.ts';
import { startVideosProgram } from './start-videos-bench.ts';
import { auditTasks, type MadeVideo, steerJob } from './task-books.ts';

const soonMs = 60_000;

/**
 * Fills the folder of the files, with a tiny file system of its own; without the right to mount one, replaces the
 * folder by a file. Returns a function that repairs it.
 */
function fillDisk(dataDirectory: string): { readonly how: string; readonly mend: () => void } {
  const folder = join(dataDirectory, 'media', 'unfinished');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder], { stdio: 'ignore' });
    return { how: 'a file system of 16 KiB', mend: () => void execFileSync('umount', ['-l', folder]) };
  } catch {
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, '');
    const mend = (): void => {
      rmSync(folder);
      renameSync(`${folder}-away`, folder);
    };
    return { how: 'a path that is not a folder', mend };
  }
}

describe('M12, F46: faults of the gateway and its operator end no video', () => {
  let bench: Awaited<ReturnType<typeof startVideosProgram>>;
  let path: string;
  let good: { readonly upstreams: { readonly xai: object } };
  const created: MadeVideo[] = [];
  before(async () => {
    bench = await startVideosProgram();
    path = join(bench.weir.dataDirectory, 'weir.yaml');
    good = JSON.parse(readFileSync(path, 'utf8')) as typeof good;
  });
  after(() => bench[Symbol.asyncDispose]());

  const make = async (prompt: string, script: string): Promise<string> => {
    const id = await bench.make({ prompt, duration: 1 }, { headers: { 'x-simulator-video': script } });
    created.push({ id, prompt });
    return id;
  };
  const configure = (config: object): void => {
    // Written atomically, because the gateway also reads it by itself.
    writeFileSync(`${path}.new`, JSON.stringify(config));
    renameSync(`${path}.new`, path);
    bench.weir.process.kill('SIGHUP');
  };
  const alertOf = (id: string): string => {
    const database = openDatabase(join(bench.weir.dataDirectory, 'weir.sqlite'), { readOnly: true, busyTimeoutMs: 30_000 });
    try {
      return String(database.first('select alert_reason from video_tasks where id = ?', [id])?.['alert_reason'] ?? '');
    } finally {
      database.close();
    }
  };
  const alerted = (id: string, reason: RegExp) =>
    eventually(
      () => alertOf(id),
      (alert) => reason.test(alert),
      soonMs,
    );
  const statusOf = async (id: string): Promise<string> => (await bench.ask('GET', `/videos/${id}`)).json.status;

  test('an upstream that a reload removes: the video waits with an alert and continues when it is back', async () => {
    const id = await make('removed', 'end=never');
    const { xai: _xai, ...others } = good.upstreams;
    const models = { 'sora-2': { targets: [{ upstream: 'openai', model: 'sora-2' }] } };
    configure({ ...good, upstreams: others, models });
    await alerted(id, /the configuration no longer has the upstream "xai"/);
    assert.match(await statusOf(id), /queued|in_progress/);
    configure(good);
    await steerJob(bench.simulator, 'removed', 'end=done');
    assert.equal((await bench.ended(id)).status, 'completed');
    assert.equal(alertOf(id), '');
  });

  test('a refused credential: the video waits with an alert and continues when it is correct', async () => {
    const id = await make('refused', 'ms=100;poll=401');
    await alerted(id, /refuses the credential \(401\)/);
    assert.match(await statusOf(id), /queued|in_progress/);
    await steerJob(bench.simulator, 'refused', 'poll-times=1');
    assert.equal((await bench.ended(id)).status, 'completed');
  });

  test('a full disk: the video waits with an alert, nothing is charged before it is stored', async (context) => {
    const { how, mend } = fillDisk(bench.weir.dataDirectory);
    let id: string;
    try {
      id = await make('no place', 'ms=100');
      await alerted(id, /the file could not be copied/);
      assert.equal((await bench.ask('GET', `/videos/${id}/receipt`)).json.state, 'held');
    } finally {
      mend();
    }
    assert.equal((await bench.ended(id)).status, 'completed');
    context.diagnostic(`the disk: ${how}`);
  });

  test('a request that an upstream does not support is refused without a task, and a forbidden one is the client’s matter', async () => {
    const refuse = async (fault: string) => {
      const body = { model: 'vendor-imagine-video', prompt: fault, duration: 1 };
      return await bench.ask('POST', '/video/generations', { body, headers: { 'x-simulator-fault': fault } });
    };
    const before = (await bench.ask('GET', '/videos?limit=100')).json.data.length as number;
    for (const status of [503, 529]) {
      const answer = await refuse(`status;status=${status}`);
      assert.deepEqual([answer.status, typeof answer.json.error.message], [503, 'string']);
    }
    const forbidden = await refuse('status;status=403;message=Content violates usage guidelines.');
    assert.deepEqual([forbidden.status, forbidden.json.error.message], [403, 'Content violates usage guidelines.']);
    const credential = await refuse('status;status=403;message=This key may not.');
    assert.equal(credential.status, 503);
    assert.equal((await bench.ask('GET', '/videos?limit=100')).json.data.length, before);
  });

  test('the books match', async (context) => {
    const { dataDirectory } = bench.weir;
    const { problems, counts } = await auditTasks(
      { simulator: bench.simulator, dataDirectory, ask: (at) => bench.ask('GET', at) },
      created,
    );
    assert.deepEqual(problems, []);
    context.diagnostic(JSON.stringify(counts));
  });
});
