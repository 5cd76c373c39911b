// Fails if a call allocates more than it did: `node bench/guard.ts`. `--update` writes the figures of this run.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { apiKey, type Contestant, loadCore, startPinned, startWeirGateway } from './contestants.ts';
import { readMemory } from './idle-streams.ts';
import { smallCall, stream, translated, type Work } from './works.ts';

/**
 * Processor time cannot be guarded on a machine that others use: the ratio of one commit to the bare proxy varies by a
 * third. What V8 allocates for a call hardly varies if nothing is compiled, and every needless object, function,
 * promise, copy or parse shows in it. Memory of buffers is not counted.
 */
const interpreted = ['--no-opt', '--no-maglev', '--no-sparkplug'];

const path = join(import.meta.dirname, 'guard.json');
/** Bytes that V8 allocates for a call, by the name of the work. */
const committed = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, number>>;
/** A call may allocate this much more than the committed figure. Events of a stream may arrive together or apart. */
const [tolerance, streamTolerance] = [1.1, 1.2];
/** A work is measured again if it seems too expensive: timers allocate too, and more of them on a busy machine. */
const attemptsMax = 3;
/** Calls at once share the work of a turn of the event loop. */
const callsAtOnce = 64;
const warmBatches = 2;
const [batches, streamBatches] = [16, 4];

/**
 * Streams are short, and have a pace at which each event arrives alone. Large bodies are not guarded: each part of them
 * that arrives is an object, and the number of parts varies.
 */
function shortened({ body, ...work }: Work): Work {
  return { ...work, body: body.replace(/"max_tokens":\d+/, '"max_tokens":40').replace(/"seed":\d+/, '"seed":50') };
}
const guarded: Readonly<Record<string, Work>> = {
  'call of 1.5 KB': smallCall,
  'stream of 40 events': shortened(stream),
  'translated stream of 40 events': shortened(translated),
};

const agent = new Agent({ keepAlive: true, maxSockets: callsAtOnce });

/** Sends one request, and reads its answer to the end. Rejects if it is refused. */
function call(port: number, { path: target, body }: Work): Promise<void> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: target, method: 'POST', headers, agent }, (answer) => {
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${target} was answered ${answer.statusCode}`))));
      answer.on('error', reject);
      answer.resume();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function load({ port }: Contestant, work: Work, count: number): Promise<void> {
  for (let batch = 0; batch < count; batch += 1) await Promise.all(Array.from({ length: callsAtOnce }, () => call(port, work)));
}

/** Bytes that V8 allocates for a call. The first calls load code and fill caches, so they do not count. */
async function measure(weir: Contestant, file: string, work: Work): Promise<number> {
  await load(weir, work, warmBatches);
  const count = work.streams === true ? streamBatches : batches;
  const before = await readMemory(weir, file);
  await load(weir, work, count);
  const after = await readMemory(weir, file);
  return (after.allocated - before.allocated) / (count * callsAtOnce);
}

/** The lowest of some measurements; the first that is within the limit ends them. */
async function lowest(weir: Contestant, file: string, work: Work, most: number): Promise<number> {
  let found = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attemptsMax && found > most; attempt += 1) found = Math.min(found, await measure(weir, file, work));
  return Math.round(found);
}

const file = join(mkdtempSync(join(tmpdir(), 'weir-bench-guard-')), 'memory.json');
const preload = pathToFileURL(join(import.meta.dirname, 'tell-memory.ts'));
preload.search = encodeURIComponent(file);
const upstream = await startPinned(loadCore, [process.execPath, join(import.meta.dirname, 'upstream.ts')], /^(\d+)$/m);
const weir = await startWeirGateway(Number(upstream.found), { flags: ['--import', preload.href, ...interpreted] });
try {
  const isUpdate = process.argv.includes('--update');
  const figures: Record<string, number> = {};
  for (const [name, work] of Object.entries(guarded)) {
    const most = isUpdate ? 0 : Math.round((committed[name] ?? 0) * (work.streams === true ? streamTolerance : tolerance));
    const now = await lowest(weir, file, work, most);
    figures[name] = now;
    console.log(`${name}: ${now} bytes a call, at most ${most}`);
    if (isUpdate || now <= most) continue;
    console.error(`${name} allocates more: if that is right, run \`node bench/guard.ts --update\` and say why.`);
    process.exitCode = 1;
  }
  if (isUpdate) writeFileSync(path, `${JSON.stringify(figures, undefined, 2)}\n`);
} finally {
  agent.destroy();
  weir.stop();
  upstream.child.kill('SIGKILL');
}
