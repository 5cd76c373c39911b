// What ten open consoles cost (`npm run bench -- watchers [--rounds 6] [--consoles 10] [--rate 1000] [--postgres]
// [--write]`): rounds with and without them in turn, while calls are made at a steady rate. A console is an overview
// every 15 s and a stream of events of its pages. Processor time is that of all threads; time to the screen is from the
// end of a call's reply to its event.
import { Agent, request } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

import { signInByLink, tokenClient } from '../../conformance/admin/console-client.ts';
import { type PostgresServer, startPostgres } from '../../conformance/support/start-postgres.ts';
import { startWeir, type RunningWeir } from '../../conformance/support/start-weir.ts';
import { writePart } from '../benchmark-page.ts';
import { startUpstream } from '../contestants.ts';
import { cpuSecondsOf } from '../cpu-seconds.ts';
import { smallCall } from '../works.ts';

const option = (name: string, otherwise: number): number =>
  process.argv.includes(name) ? Number(process.argv[process.argv.indexOf(name) + 1]) : otherwise;
const [rounds, consoles, rate] = [option('--rounds', 6), option('--consoles', 10), option('--rate', 1000)];
const roundMs = 15_000;
const warmUpMs = 10_000;
const overviewMs = 15_000;
const tickMs = 10;

type Round = { readonly cpuMs: number; readonly serverMs: number; readonly calls: number; readonly latencies: number[] };

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
/** When the replies of the last calls ended, by their ids. */
const endedMs = new Map<string, number>();

function call(weir: RunningWeir): Promise<number> {
  const begunMs = performance.now();
  const headers = {
    authorization: `Bearer ${weir.apiKey}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(smallCall.body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${weir.gatewayUrl}${smallCall.path}`, { method: 'POST', headers, agent }, (answer) => {
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode !== 200) return reject(new Error(`a call was answered ${answer.statusCode}`));
        endedMs.set(String(answer.headers['x-weir-request-id']), performance.now());
        resolve(performance.now() - begunMs);
      });
      answer.resume();
    });
    sent.on('error', reject);
    sent.end(smallCall.body);
  });
}

/** Makes calls at the rate for some time. */
async function load(weir: RunningWeir, forMs: number): Promise<number[]> {
  const calls: Promise<number>[] = [];
  const begunMs = performance.now();
  for (let at = begunMs; at < begunMs + forMs; at = performance.now()) {
    const due = Math.floor(((at - begunMs) * rate) / 1000);
    while (calls.length < due) calls.push(call(weir));
    await wait(tickMs);
  }
  return await Promise.all(calls);
}

const serverSeconds = (server: PostgresServer | undefined): number =>
  server?.processIds().reduce((sum, pid) => sum + cpuSecondsOf(pid, true), 0) ?? 0;

async function measureRound(weir: RunningWeir, server: PostgresServer | undefined): Promise<Round> {
  endedMs.clear();
  const before = [cpuSecondsOf(weir.process.pid), serverSeconds(server)] as const;
  const latencies = await load(weir, roundMs);
  const [cpuMs, serverMs] = [cpuSecondsOf(weir.process.pid) - before[0], serverSeconds(server) - before[1]].map(
    (seconds) => seconds * 1000,
  );
  return { cpuMs: cpuMs ?? 0, serverMs: serverMs ?? 0, calls: latencies.length, latencies };
}

/** Opens consoles; the times from the ends of calls to their events are added to `seenMs`. */
function openConsoles(weir: RunningWeir, token: string, seenMs: number[]): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const client = tokenClient(weir.consoleUrl, token);
  const run = async (index: number): Promise<void> => {
    await wait((index * overviewMs) / consoles, undefined, { signal });
    const overviews = (async () => {
      for (;;) {
        const { status } = await client.send('GET', '/api/v1/overview');
        if (status !== 200) throw new Error(`the overview was answered ${status}`);
        await wait(overviewMs, undefined, { signal });
      }
    })();
    await Promise.all([overviews, readEvents(weir, token, signal, index === 0 ? seenMs : undefined)]);
  };
  // They begin within a moment, as after a restart.
  const all = Array.from({ length: consoles }, (_, index) =>
    run(index).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  );
  return async () => {
    ending.abort();
    await Promise.all(all);
  };
}

async function readEvents(weir: RunningWeir, token: string, signal: AbortSignal, seenMs: number[] | undefined): Promise<void> {
  const response = await fetch(`${weir.consoleUrl}/api/v1/events?topics=calls,attention,nodes`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || response.body === null) throw new Error(`the events were answered ${response.status}`);
  const decoder = new TextDecoder();
  for await (const piece of response.body) {
    if (seenMs === undefined) continue;
    const nowMs = performance.now();
    for (const [, id] of decoder.decode(piece, { stream: true }).matchAll(/"id":"(req_\w+)"/g)) {
      const at = endedMs.get(id ?? '');
      if (at !== undefined) seenMs.push(nowMs - at);
    }
  }
}

const part = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

const isOnPostgres = process.argv.includes('--postgres');
const busy = (loadavg()[0] ?? 0).toFixed(1);
const server = isOnPostgres ? await startPostgres(['shared_buffers=512MB']) : undefined;
const upstream = await startUpstream();
try {
  await using weir = await startWeir({
    command: 'start',
    config: `upstreams:\n  bench: { vendor: openai-compatible, baseUrl: "http://127.0.0.1:${upstream.port}/v1", apiKey: upstream-key }\nmodels:\n  bench-model: { targets: [{ upstream: bench }], price: { input: "1", output: "3" } }\n${server === undefined ? '' : `database: { url: ${JSON.stringify(server.url())} }\n`}`,
    environment: { WEIR_CONSOLE_PORT: '0' },
    readyWithinMs: 300_000,
  });
  const browser = await signInByLink(weir.consoleUrl, weir.consoleLink);
  const made = await browser.send('POST', '/api/v1/admin_tokens', {
    name: 'bench',
    permissions: ['usage:read', 'calls:read', 'upstreams:read'],
  });
  const token = String(made.body['secret']);
  await load(weir, warmUpMs);
  const [without, withConsoles, seenMs]: [Round[], Round[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await measureRound(weir, server));
    const close = openConsoles(weir, token, seenMs);
    withConsoles.push(await measureRound(weir, server));
    await close();
  }
  const medianOf = (measured: readonly Round[], of: 'cpuMs' | 'serverMs'): string =>
    part(
      measured.map((round) => (round[of] * 1000) / round.calls),
      0.5,
    ).toFixed(1);
  const cpuOf = (measured: readonly Round[]): string =>
    medianOf(measured, 'cpuMs') + (isOnPostgres ? ` + ${medianOf(measured, 'serverMs')}` : '');
  const p99Of = (measured: readonly Round[]): number =>
    part(
      measured.flatMap(({ latencies }) => latencies),
      0.99,
    );
  const page = [
    `# What open consoles cost${isOnPostgres ? ' with PostgreSQL' : ''}`,
    '',
    `Written by \`npm run bench -- watchers ${isOnPostgres ? '--postgres ' : ''}--write\`: ${rounds} rounds of ${roundMs / 1000} s with and ${rounds} without ${consoles} open consoles in`,
    `turn, from \`weir start\` on ${isOnPostgres ? 'PostgreSQL' : 'SQLite'}, with callers and upstream on the same machine (${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}).`,
    'A console reads the overview every 15 s and has a stream of events of calls, problems and gateways. CPU is that of all',
    `threads of the process${isOnPostgres ? ', and after the plus that of the server' : ''}. The load of the machine was ${busy}.`,
    '',
    `| ${rate} calls a second | CPU µs per call | p99 ms |`,
    '|---|---|---|',
    `| no console | ${cpuOf(without)} | ${p99Of(without).toFixed(1)} |`,
    `| ${consoles} consoles | ${cpuOf(withConsoles)} | ${p99Of(withConsoles).toFixed(1)} |`,
    '',
    `From the end of a reply to its event: p50 ${part(seenMs, 0.5).toFixed(0)} ms, p95 ${part(seenMs, 0.95).toFixed(0)} ms (limit 2000), of ${seenMs.length} calls that`,
    'the stream of the first console showed.',
  ].join('\n');
  console.log(page);
  if (process.argv.includes('--write')) writePart(isOnPostgres ? 'watchersOnPostgres' : 'watchers', page);
} finally {
  upstream.stop();
  await server?.close();
}
