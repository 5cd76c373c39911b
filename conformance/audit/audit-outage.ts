import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { describeRoles } from '../../src/store/postgres/roles.ts';
import { simulatedUpstreams } from '../books/load.ts';
import { readLedger } from '../support/read-ledger.ts';
import { type PostgresServer, startPostgres } from '../support/start-postgres.ts';
import { startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

export type OutageOptions = { readonly seconds: number; readonly callsPerSecond: number; readonly warmUpSeconds: number };

export type OutageFigures = {
  readonly calls: number;
  readonly callsDuring: number;
  /** Calls of a known key without a complete reply, by status; 0: no status. */
  readonly failed: Readonly<Record<number, number>>;
  /** The times that clients measured while the database was down, in milliseconds. */
  readonly p99Ms: number;
  /** Memory growth of the gateway from the beginning to the end of the outage, and its maximum, in MB. */
  readonly grownMb: number;
  readonly grownMbMax: number;
  /** The same after each half minute of the outage. */
  readonly grownMbOverTime: readonly number[];
  readonly caughtUpSeconds: number;
  readonly missing: number;
  /** Every broken promise, one sentence each. */
  readonly problems: readonly string[];
};

/** The bounds that R1 promises. */
const promised = { grownMb: 20, caughtUpSeconds: 60 };
/** The time after which the outage must have been noticed. */
const noticedWithinSeconds = 5;
const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'How long is a river?' }] });
const unknownKey = 'sk-somebody-elses-key-0123456789';

type Seen = { readonly status: number; readonly callId: string | undefined; readonly atMs: number; readonly tookMs: number };

/** Makes one call on a reused connection. Never rejects. */
function ask(url: string, agent: Agent, key: string): Promise<Seen> {
  const atMs = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, callId?: string | string[]): void =>
      resolve({ status, callId: typeof callId === 'string' ? callId : undefined, atMs, tookMs: performance.now() - atMs });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers, timeout: 20_000 }, (reply) => {
      reply.resume();
      reply.on('error', () => end(0));
      reply.on('close', () => end(reply.complete ? (reply.statusCode ?? 0) : 0, reply.headers['x-weir-request-id']));
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => end(0));
    outgoing.end(body);
  });
}

/** Makes calls at a steady rate until it is stopped. */
class Load {
  readonly seen: Seen[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #weir: RunningWeir;
  readonly #running: Promise<void>;
  readonly #ended = new AbortController();

  constructor(weir: RunningWeir, callsPerSecond: number) {
    this.#weir = weir;
    this.#running = this.#run(callsPerSecond);
  }

  async #run(callsPerSecond: number): Promise<void> {
    const open = new Set<Promise<void>>();
    const startMs = performance.now();
    for (let made = 0; !this.#ended.signal.aborted;) {
      for (; made < ((performance.now() - startMs) * callsPerSecond) / 1000; made += 1) {
        const call = ask(this.#weir.gatewayUrl, this.#agent, this.#weir.apiKey).then((seen) => {
          this.seen.push(seen);
          open.delete(call);
        });
        open.add(call);
      }
      await delay(10);
    }
    await Promise.all(open);
  }

  /** The current answers to an unknown key and to a readiness probe. */
  async probe(): Promise<{ readonly unknown: number; readonly ready: number }> {
    const ready = await fetch(`${this.#weir.gatewayUrl}/health/ready`);
    await ready.arrayBuffer();
    return { unknown: (await ask(this.#weir.gatewayUrl, this.#agent, unknownKey)).status, ready: ready.status };
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    this.#agent.destroy();
  }
}

/** Resident memory of a process, in MB. */
function memoryMb(pid: number | undefined): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

const median = (values: readonly number[]): number => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;

/** Samples the memory for this many seconds. Resolves with the samples. */
async function watch(weir: RunningWeir, seconds: number, onSecond?: (second: number) => Promise<void>): Promise<readonly number[]> {
  const memory: number[] = [];
  const startMs = performance.now();
  for (let second = 0; second < seconds; second += 1) {
    await delay(Math.max(0, startMs + second * 1000 - performance.now()));
    memory.push(memoryMb(weir.process.pid));
    await onSecond?.(second);
  }
  return memory;
}

/** Waits until the ledger has this many rows. Resolves with the seconds that it took; rejects after five minutes. */
async function untilBooked(server: PostgresServer, rows: number): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const seconds = (performance.now() - startMs) / 1000;
    if (Number(await server.query('select count(*) from calls')) >= rows) return seconds;
    if (seconds > 300) throw new Error(`the ledger did not have ${rows} rows after 300 s`);
    await delay(200);
  }
}

/** A server with the schema and its roles, and a gateway with the minimum of rights. */
async function startParts(
  folder: string,
  opened: AsyncDisposableStack,
): Promise<{ readonly server: PostgresServer; readonly weir: RunningWeir }> {
  const simulator = opened.use(await startSimulatorProcess(join(folder, 'truth.jsonl')));
  const server = await startPostgres();
  opened.defer(() => server.close());
  // The owner creates the schema by opening it.
  await (await openPostgresStore({ url: server.url() })).close();
  await server.query(
    describeRoles({ gateway: 'weir_gateway', monitor: 'weir_monitor', operator: 'weir_operator', console: 'weir_console' }),
  );
  const config = JSON.stringify({
    upstreams: simulatedUpstreams(simulator.addresses),
    database: { url: server.url('weir', 'weir_gateway'), monitorUrl: server.url('weir', 'weir_monitor'), poolSize: 4 },
  });
  const weir = opened.use(await startWeir({ config, command: 'gateway', environment: { WEIR_LOG_LEVEL: 'silent' } }));
  return { server, weir };
}

/** Calls whose client has a complete reply. */
const answered = (seen: readonly Seen[]): readonly Seen[] => seen.filter(({ status }) => status === 200);

function countFailed(seen: readonly Seen[]): Readonly<Record<number, number>> {
  const byStatus = Map.groupBy(seen, ({ status }) => status);
  byStatus.delete(200);
  return Object.fromEntries([...byStatus].map(([status, all]) => [status, all.length]));
}

/** The number of answered calls without a row. */
async function countMissing(server: PostgresServer, seen: readonly Seen[]): Promise<number> {
  const ledger = readLedger(await openPostgresStore({ url: server.url() }));
  const booked = new Set((await ledger.all()).map(({ callId }) => callId));
  await ledger.close();
  return answered(seen).filter(({ callId }) => callId === undefined || !booked.has(callId)).length;
}

/**
 * Stops PostgreSQL while a gateway is under load, and starts it again. Rejects if something could not be measured;
 * `problems` has the broken promises.
 */
export async function auditOutage({ seconds, callsPerSecond, warmUpSeconds }: OutageOptions): Promise<OutageFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-audit-outage-'));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { server, weir } = await startParts(folder, opened);
  const load = new Load(weir, callsPerSecond);
  const problems: string[] = [];
  const before = await watch(weir, warmUpSeconds);
  server.signal('SIGKILL');
  const awayMs = performance.now();
  const during = await watch(weir, seconds, async (second) => {
    if (second < noticedWithinSeconds || second % 5 !== 0) return;
    const { unknown, ready } = await load.probe();
    if (unknown !== 503) problems.push(`after ${second} s an unknown key was answered with ${unknown}`);
    if (ready !== 200) problems.push(`after ${second} s readiness was ${ready}`);
  });
  const backMs = performance.now();
  await server.restart();
  const caughtUpSeconds = await untilBooked(server, answered(load.seen).length);
  await load.end();
  await untilBooked(server, answered(load.seen).length);
  const away = load.seen.filter(({ atMs }) => atMs >= awayMs && atMs < backMs);
  const atStart = median(before.slice(-10));
  const figures = {
    calls: load.seen.length,
    callsDuring: away.length,
    failed: countFailed(load.seen),
    p99Ms: away.map(({ tookMs }) => tookMs).toSorted((left, right) => left - right)[Math.floor(away.length * 0.99)] ?? 0,
    grownMb: median(during.slice(-10)) - atStart,
    grownMbMax: Math.max(...during) - atStart,
    grownMbOverTime: during.filter((_, second) => second % 30 === 29).map((mb) => Math.round(mb - atStart)),
    caughtUpSeconds,
    missing: await countMissing(server, load.seen),
  };
  return { ...figures, problems: [...problems, ...judge(figures)] };
}

function judge({ failed, grownMb, caughtUpSeconds, missing, callsDuring }: Omit<OutageFigures, 'problems'>): readonly string[] {
  return [
    ...Object.entries(failed).map(([status, count]) => `${count} calls of a known key ended with ${status}`),
    ...(callsDuring === 0 ? ['no call was made while the database was down'] : []),
    ...(grownMb > promised.grownMb ? [`the gateway's memory grew by ${grownMb.toFixed(1)} MB`] : []),
    ...(caughtUpSeconds > promised.caughtUpSeconds ? [`everything was booked only after ${caughtUpSeconds.toFixed(1)} s`] : []),
    ...(missing > 0 ? [`${missing} calls have no row`] : []),
  ];
}
