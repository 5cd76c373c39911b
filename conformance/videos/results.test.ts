import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { residentBytes } from '../support/process-memory.ts';
import { startVideosProgram } from './start-videos-bench.ts';
import { auditTasks, type MadeVideo, steerJob } from './task-books.ts';

const mebibyte = 1024 ** 2;
/** Five gigabytes are for manual runs: a build machine has neither the disk nor the time. */
const hugeBytes = Number(process.env['WEIR_HUGE_VIDEO_BYTES'] ?? 200 * mebibyte);
const flatBytes = 160 * mebibyte;

// A fault of a file or of its transfer, and the command that repairs the simulator.
const broken: readonly (readonly [hazard: string, script: string, repair: string])[] = [
  ['S4 a link to the machine itself', 'link=inside', 'link=redirect'],
  ['S4 a link to the metadata of a cloud', 'link=metadata', 'link=redirect'],
  ['S4 a redirect to an internal address', 'link=redirect-inside', 'link=redirect'],
  ['a dead link', 'link=dead', 'link=redirect'],
  ['R5 a truncated file', 'content=short', 'content=no-length'],
  ['a file that stalls', 'content=stall', 'content=no-length'],
  ['an HTML page instead of a file', 'content=html', 'content=no-length'],
  ['an empty file', 'content=empty', 'content=no-length'],
  ['a file server that fails', 'content=500', 'content=no-length'],
  ['a file with the type of a page', 'content-type=text/html', 'content-type=video/mp4'],
];

// Unusual, but still a file.
const odd: readonly (readonly [hazard: string, script: string, type: string])[] = [
  ['no length', 'content=no-length', 'video/mp4'],
  ['slow', 'content=slow;content-rate=60000', 'video/mp4'],
  ['no better type', 'content-type=application/octet-stream', 'video/mp4'],
  ['an odd type', 'content-type=video/x-odd', 'video/x-odd'],
];

describe('M12, S4, F52: the files of finished videos', () => {
  let bench: Awaited<ReturnType<typeof startVideosProgram>>;
  const created: MadeVideo[] = [];
  before(async () => {
    bench = await startVideosProgram({ timeouts: { idleMs: 3000 } });
  });
  after(() => bench[Symbol.asyncDispose]());

  const make = async (prompt: string, script: string): Promise<string> => {
    const id = await bench.make({ prompt, duration: 1 }, { headers: { 'x-simulator-video': `ms=100;${script}` } });
    created.push({ id, prompt });
    return id;
  };
  const failedCopies = () => bench.weir.output().match(/the file could not be copied/g)?.length ?? 0;

  test('a file that cannot be fetched ends nothing: the video waits with an alert, is delivered when it is correct, and is charged once', async () => {
    const ids = await Promise.all(broken.map(([hazard, script]) => make(hazard, script)));
    await eventually(failedCopies, (count) => count >= broken.length, 60_000);
    for (const [index, [hazard]] of broken.entries()) {
      // Some may have failed a second time before others failed the first time.
      await eventually(
        () => bench.ask('GET', `/videos/${ids[index]}`),
        (answer) => answer.json.progress === 99,
        60_000,
      );
      const { json } = await bench.ask('GET', `/videos/${ids[index]}`);
      assert.deepEqual([json.status, json.progress, json.metadata.url], ['in_progress', 99, undefined], hazard);
      assert.equal((await bench.ask('GET', `/videos/${ids[index]}/content`)).status, 400, hazard);
      assert.equal((await bench.ask('GET', `/videos/${ids[index]}/receipt`)).json.state, 'held', hazard);
    }
    for (const [hazard, , repair] of broken) await steerJob(bench.simulator, hazard, repair);
    for (const id of ids) assert.equal((await bench.ended(id)).status, 'completed');
  });

  test('an unusual file is delivered with a type that no browser executes', async () => {
    for (const [hazard, script, type] of odd) {
      const id = await make(hazard, script);
      assert.equal((await bench.ended(id)).status, 'completed', hazard);
      const { status, headers } = await bench.ask('GET', `/videos/${id}/content`);
      assert.deepEqual([status, headers['content-type'], headers['x-content-type-options']], [200, type, 'nosniff'], hazard);
    }
  });

  test(`${Math.round(hugeBytes / mebibyte)} MiB pass through to the disk and to a client without staying in memory`, async (context) => {
    const pid = bench.weir.process.pid;
    const beforeBytes = residentBytes(pid);
    if (beforeBytes === undefined) return context.skip('this system does not report the memory of a process');
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, residentBytes(pid) ?? 0)), 20);
    try {
      const startedAt = performance.now();
      const id = await make('huge', `content=huge;content-bytes=${hugeBytes}`);
      const isDone = (task: { status?: string } | undefined): boolean => task?.status === 'completed';
      await eventually(async () => (await bench.ask('GET', `/videos/${id}`)).json, isDone, 300_000);
      const copied = performance.now();
      const answer = await fetch(`${bench.weir.gatewayUrl}/v1/videos/${id}/content`, {
        headers: { authorization: `Bearer ${bench.weir.apiKey}` },
      });
      let bytes = 0;
      for await (const piece of answer.body ?? []) bytes += piece.length;
      assert.equal(bytes, hugeBytes);
      const grown = most - beforeBytes;
      const seconds = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`;
      context.diagnostic(
        `stored in ${seconds(startedAt, copied)}, read in ${seconds(copied, performance.now())}, ${Math.round(grown / mebibyte)} MiB more resident at most`,
      );
      assert.ok(grown < flatBytes, `${grown} bytes more are resident`);
    } finally {
      clearInterval(watch);
    }
  });

  test('the books: one row for each, charged for the delivered video; no extra file, and no link in the log', async (context) => {
    const { dataDirectory } = bench.weir;
    const { problems, counts } = await auditTasks(
      { simulator: bench.simulator, dataDirectory, ask: (path) => bench.ask('GET', path) },
      created,
    );
    assert.deepEqual(problems, []);
    assert.doesNotMatch(bench.weir.output(), /simulated-videos|169\.254|127\.0\.0\.1:1\b/);
    context.diagnostic(JSON.stringify(counts));
  });
});
