import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

import { download } from '../conformance/media-load/clients.ts';
import { percentilesOf, type Percentiles } from '../conformance/media-load/percentiles.ts';
import { completeTogether, downloadTogether, pollFor, watchTasks } from '../conformance/media-load/phases.ts';
import { type MediaLoad, pin, startMediaLoad, startProgram } from '../conformance/media-load/start-media-load.ts';
import type { Offered } from '../conformance/overload/offer-load.ts';
import { eventually } from '../conformance/support/http.ts';
import { writePart } from './benchmark-page.ts';
import { cpuSecondsOf } from './cpu-seconds.ts';

/**
 * The capacity of a gateway on one core for videos: open tasks, downloads, and simultaneous ends, all with chat calls
 * at the same time; upstreams and clients have the other core. `node bench/media.ts` prints the figures and writes them
 * to docs/reference/benchmarks.md; `--quick` takes half a minute and writes nothing.
 */
const quick = process.argv.includes('--quick');
const proxyCore = '1';
const loadCore = '0';
const tasks = quick ? 200 : 1000;
const clients = quick ? 40 : 200;
const watchers = quick ? 40 : 200;
const pollSeconds = quick ? 12 : 100;
const fileBytes = (quick ? 10 : 50) * 1_000_000;
const endedFileBytes = 2_000_000;
const rounds = quick ? 3 : 9;
const limitMs = 600_000;

const rows: string[] = [];
const row = (what: string, measured: string): void => {
  rows.push(`| ${what} | ${measured} |`);
  console.log(`${what}: ${measured}`);
};
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const spread = ({ p50, p99, max }: Percentiles, show = (ms: number): string => ms.toFixed(0)): string =>
  [p50, p99, max].map(show).join(' / ');
const chatOf = ({ good, offered, goodMs }: Offered): string =>
  `${goodMs.p50.toFixed(1)} / ${goodMs.p99.toFixed(1)} ms, ${good} of ${offered} answered`;

async function makeFile(load: MediaLoad): Promise<string> {
  const [id = ''] = await load.submit(1, `done bytes=${fileBytes}`);
  await eventually(
    async () => (await load.store.countTasks(Date.now())).open,
    (open) => open === 0,
    60_000,
  );
  return id;
}

/** Microseconds of processor time per megabyte of a file, one client after the other. */
async function costOfFiles(load: MediaLoad, id: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const file = join(folder, 'file');
  writeFileSync(file, Buffer.alloc(fileBytes, 'weir'));
  const bare = await startProgram(join(import.meta.dirname, 'bare-files.ts'), [file]);
  pin(bare.child.pid, proxyCore);
  const gateway = Number(new URL(load.weir.gatewayUrl).port);
  const measure = async (pid: number | undefined, address: Parameters<typeof download>[0]): Promise<number> => {
    const before = cpuSecondsOf(pid);
    for (let time = 0; time < 4; time += 1) await download(address);
    return ((cpuSecondsOf(pid) - before) * 1e6) / ((4 * fileBytes) / 1e6);
  };
  const costs: Record<'bare' | 'weir', number[]> = { bare: [], weir: [] };
  for (let round = 0; round < rounds; round += 1) {
    costs.bare.push(await measure(bare.child.pid, { port: bare.port, path: '/' }));
    costs.weir.push(await measure(load.weir.process.pid, { port: gateway, path: `/v1/videos/${id}/content`, apiKey: load.weir.apiKey }));
  }
  bare.child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
  const [weirMicros, bareMicros] = [percentilesOf(costs.weir).p50, percentilesOf(costs.bare).p50];
  row(
    'CPU µs per MB of a file, compared with node:http with a file stream',
    `${weirMicros.toFixed(0)} / ${bareMicros.toFixed(0)} (${(weirMicros / bareMicros).toFixed(2)})`,
  );
}

async function run(load: MediaLoad): Promise<void> {
  const file = await makeFile(load);
  await costOfFiles(load, file);
  const alone = await load.chat(20, quick ? 5 : 20);
  row('chat calls alone, 20/s, p50 / p99', chatOf(alone));
  const startedMs = performance.now();
  const ids = await load.submit(tasks, `bytes=${endedFileBytes}`);
  row(`${tasks} submissions, 20 at a time`, `${seconds(performance.now() - startedMs)} s`);
  const watched = watchTasks(load, ids.slice(0, watchers));
  await watched.ready;
  const { gapMs, polls, latenessMs, loop, chat } = await pollFor(load, pollSeconds, 20);
  row(
    `${tasks} open tasks, ${watchers} followed by events: time between two polls, p50 / p99 / max`,
    `${spread(gapMs, (ms) => (ms / 1000).toFixed(2))} s (${polls} polls)`,
  );
  row('lateness of the latest task, sampled ten times a second, p50 / p99 / max', `${spread(latenessMs)} ms`);
  row('event loop meanwhile, p99 / max', `${loop.p99Ms.toFixed(1)} / ${loop.longestMs.toFixed(1)} ms`);
  row('chat calls meanwhile, 20/s, p50 / p99', chatOf(chat));
  const files = await downloadTogether(load, { id: file, clients, seconds: quick ? 4 : 15 });
  row(
    `${clients} downloads of ${megabytes(fileBytes)} MB together`,
    `${seconds(files.ms)} s, ${(files.bytes / 1e3 / files.ms).toFixed(0)} MB/s`,
  );
  row('resident memory before, at most, after', `${[files.startBytes, files.peakBytes, files.afterBytes].map(megabytes).join(' / ')} MB`);
  row('event loop meanwhile, p99 / max', `${files.loop.p99Ms.toFixed(1)} / ${files.loop.longestMs.toFixed(1)} ms`);
  row('chat calls meanwhile, 20/s, p50 / p99', chatOf(files.chat));
  const ended = await completeTogether(load, limitMs);
  row(
    `${tasks} tasks done at once, ${megabytes(endedFileBytes)} MB each: until the last is stored and charged`,
    `${seconds(ended.ms)} s, ${ended.left} left`,
  );
  row('resident memory before, at most', `${[ended.startBytes, ended.peakBytes].map(megabytes).join(' / ')} MB`);
  row('event loop meanwhile, p99 / max', `${ended.loop.p99Ms.toFixed(1)} / ${ended.loop.longestMs.toFixed(1)} ms`);
  const told = await watched.ended;
  row('watchers that received the end', `${told.filter((names) => names.at(-1) === 'video.completed').length} of ${watchers}`);
}

pin(process.pid, loadCore);
const busy = loadavg()[0] ?? 0;
{
  await using load = await startMediaLoad({ core: proxyCore });
  await run(load);
}
const page = [
  '# Videos under load',
  '',
  `Written by \`node bench/media.ts\`: the gateway on one core (${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}), upstreams and clients on the other.`,
  `The files are in a directory. The load of the machine at the start was ${busy.toFixed(1)}. A poll is due at most 2, 5 or 8 s after the`,
  'last one, by the age of its task.',
  '',
  '| What | Measured |',
  '|---|---|',
  ...rows,
  '',
].join('\n');
if (!quick) writePart('videos', page);
