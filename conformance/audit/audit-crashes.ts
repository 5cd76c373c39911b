import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { verifyStart } from '../../src/billing/credits/credit-books.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { AccessLimitsChange } from '../../src/accounts/access-limits.ts';
import type { Store } from '../../src/store/store.ts';
import { createRandom, makeCall, modeOf, simulatedUpstreams } from '../books/load.ts';
import { type Audit as Audited, auditBooks, type ClientView, type Truth } from '../support/audit.ts';
import { readLedger } from '../support/read-ledger.ts';
import { eventually } from '../support/http.ts';
import { type SimulatorProcess, startSimulatorProcess } from '../support/start-simulator-process.ts';
import { createFleet, type Engine, type Fleet } from './start-fleet.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

export type CrashOptions = {
  readonly engine: Engine;
  readonly kills: number;
  readonly seed: number;
  /** Concurrent calls while processes are killed. */
  readonly clients: number;
  /** Simultaneous calls on the key when it is near its limit. 0 skips this part. */
  readonly crowd: number;
};

export type CrashFigures = {
  readonly calls: number;
  readonly rows: number;
  /** Rows of calls with more than one attempt. */
  readonly retried: number;
  readonly missing: number;
  readonly doubled: number;
  /** Output tokens that were not charged for calls that a kill cut. */
  readonly shortfalls: readonly number[];
  /** The number of these calls that must have a charge, according to their clients' data and its times. */
  readonly witnessed: number;
  /** The leased amount when everything has ended, in nano-USD. */
  readonly heldAtRestNanoUsd: bigint;
  readonly overLimitNanoUsd: bigint;
  /**
   * Calls of the burst with a complete reply, the number of each status (0: none), and the amount of the limit that was
   * left.
   */
  readonly crowdServed: number;
  readonly crowdStatuses: Readonly<Record<number, number>>;
  readonly crowdLeftNanoUsd: bigint;
  /** Every problem, one sentence each. */
  readonly problems: readonly string[];
};

const tokensPerSecond = 100;
/**
 * The usual upper bound of uncharged tokens of a stream that a kill cut: the text between two journal records (200 ms),
 * and the text in transit. It is the same on every machine, so a slow auditor hides nothing. On a busy machine a single
 * stream may have more text in sockets; its bound is the text that its client received.
 */
const usuallyLostMsMax = 300;
/** Estimates count differently from the upstream, and a frame has four tokens. */
const estimateTokens = 16;
const usuallyLostTokensMax = (tokensPerSecond * usuallyLostMsMax) / 1000 + estimateTokens;
/** With this many faulty calls some are retried, although a retry budget and kills spare others. */
const struckMin = 6;
/** Fewer streams give no useful median. */
const medianOfMin = 8;
/** With this many cut streams, some clients received text for longer than the interval between journal records. */
const cutMin = 20;
/** With this many requests, a fault hits some. */
const requestsMin = 100;
/** Occasional failures of the vendors before any output. The gateway's retries must hide them. */
const faults = [
  { fault: 'status;status=503', every: 7 },
  { fault: 'reset-before-headers', every: 11 },
];
const crowdAttempts = 10;
const crowdModel = { model: 'claude-sonnet-4-5', max_tokens: 60 };
/**
 * The cost of a call of the burst: the simulated vendor counts four characters per token and answers with about 35
 * tokens. Its hold is about four times as large.
 */
const crowdCost = { nanoUsdPerCharacter: 3_750 / 4, nanoUsdOfOutput: 35 * 15_000 };

const usd = (nanoUsd: bigint): string => `${nanoUsd / 1_000_000_000n}.${String(nanoUsd % 1_000_000_000n).padStart(9, '0')}`;
const sumOf = (entries: readonly CallEntry[]): bigint => entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);

/** The world of one audit: vendors, gateways and the observations of their clients. */
class Audit {
  readonly views: ClientView[] = [];
  readonly #fleet: Fleet;
  readonly #options: CrashOptions;
  readonly #random: () => number;
  #number = 0;

  constructor(fleet: Fleet, options: CrashOptions) {
    this.#fleet = fleet;
    this.#options = options;
    this.#random = createRandom(options.seed);
  }

  /**
   * The limit of the burst: enough for about half of its calls. Calls are identified by their length, so later calls
   * cost more.
   */
  crowdNanoUsd(): bigint {
    const { crowd } = this.#options;
    const charactersEach = this.#number + crowd / 2;
    return BigInt(Math.ceil((crowd / 2) * (charactersEach * crowdCost.nanoUsdPerCharacter + crowdCost.nanoUsdOfOutput)));
  }

  async #call(more: Partial<Parameters<typeof makeCall>[2]> & { readonly tokensMax: number }): Promise<ClientView> {
    const { tokensMax, ...rest } = more;
    const number = (this.#number += 1);
    const steer = { 'output-tokens': String(10 + Math.floor(this.#random() * (tokensMax - 10))) };
    const { text: _, ...view } = await makeCall(this.#fleet.urlFor(number), this.#fleet.apiKey(), {
      ...modeOf(number),
      number,
      steer,
      ...rest,
    });
    this.views.push(view);
    return view;
  }

  /**
   * Waits until the process that gets the next call is ready. A client that repeats requests to a dead process would
   * waste processor time, and would make requests longer and more expensive, because they are identified by their
   * length.
   */
  async #untilReady(isOver: () => boolean): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      try {
        const reply = await fetch(`${this.#fleet.urlFor(this.#number + 1)}/health/ready`, { signal: AbortSignal.timeout(1000) });
        await reply.arrayBuffer();
        return reply.ok;
      } catch {
        return false;
      }
    };
    while (!isOver() && !(await isReady())) await delay(100);
  }

  /** Calls start and end while one process after another is killed. */
  async killUnderLoad(): Promise<void> {
    const { kills, clients } = this.#options;
    let stopped = false;
    const client = async (): Promise<void> => {
      while (!stopped) {
        const view = await this.#call({ tokensMax: 250, ...(this.#random() < 0.15 ? { leaveAfterMs: this.#random() * 400 } : {}) });
        if (view.status === 0) await this.#untilReady(() => stopped);
      }
    };
    const running = Array.from({ length: clients }, client);
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(80 + this.#random() * 500);
      await this.#fleet.kill(kill, this.#random);
    }
    await delay(500);
    stopped = true;
    await Promise.all(running);
  }

  /** A burst of calls on the key; a process dies when the first call was served. Returns the clients' observations. */
  async crowd(): Promise<readonly ClientView[]> {
    const api = modeOf(0).api;
    const insist = async (stream: boolean): Promise<ClientView> => {
      for (let attempt = 1; ; attempt += 1) {
        const view = await this.#call({ tokensMax: 60, api, stream, body: crowdModel, limitMs: 60_000 });
        // While a process or the database is down, a client gets an error or no answer, and retries.
        if ((view.status !== 503 && view.status !== 0) || attempt === crowdAttempts) return view;
        await delay(500 + this.#random() * 500);
      }
    };
    const calls = Array.from({ length: this.#options.crowd }, (_, index) => insist(index % 2 === 0));
    const isServed = async (call: Promise<ClientView>): Promise<void> => {
      if (!(await call).complete) throw new Error('not served');
    };
    // The figures show when no process was available.
    await Promise.any(calls.map(isServed)).catch(() => undefined);
    await this.#fleet.kill(3, this.#random);
    return Promise.all(calls);
  }
}

/** Changes the limits of the key of all calls. Running processes notice the change within seconds. */
async function limitKey(fleet: Fleet, change: AccessLimitsChange): Promise<void> {
  const store = await fleet.openStore();
  for (const { id } of await store.listApiKeys()) await store.changeApiKeyLimits(id, change, changeAt());
  await store.close();
}

async function readEntries(fleet: Fleet): Promise<readonly CallEntry[]> {
  const ledger = readLedger(await fleet.openStore());
  const entries = await ledger.all();
  await ledger.close();
  return entries;
}

async function verifyAll(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (let cursor = verifyStart; ;) {
    const { problems, next } = await store.verifyBooks({ cursor, limit: 2000 });
    found.push(...problems.map(({ what }) => `the books: ${what}`));
    if (next === undefined) return found;
    cursor = next;
  }
}

/** Problems of accounts at rest, and the leased amounts. */
async function auditCredits(fleet: Fleet): Promise<{ readonly problems: readonly string[]; readonly leased: bigint }> {
  const store = await fleet.openStore();
  const problems = await verifyAll(store);
  const leased = (await store.listLeases()).reduce((sum, { leasedNanoUsd }) => sum + leasedNanoUsd, 0n);
  await store.close();
  return { problems, leased };
}

/** A machine that stalls briefly affects few streams; a journal with too few records affects most. */
function checkMedian(shortfalls: readonly number[]): readonly string[] {
  if (shortfalls.length < medianOfMin) return [];
  const median = shortfalls.toSorted((left, right) => left - right)[Math.floor(shortfalls.length / 2)] ?? 0;
  if (median <= usuallyLostTokensMax) return [];
  return [`the median of the streams that were cut lacks ${median} tokens; at most ${usuallyLostTokensMax} are usual`];
}

/** Events without which an audit proves nothing. */
function checkStruck(books: Audited, truths: readonly Truth[], retried: number): readonly string[] {
  const struck = truths.filter(({ fault }) => fault !== undefined).length;
  return [
    ...(truths.length >= requestsMin && struck < struckMin ? [`the vendors failed ${struck} of ${truths.length} times`] : []),
    ...(retried === 0 && struck >= struckMin ? ['no call was retried, although its vendor failed'] : []),
    ...(books.shortfalls.length >= cutMin && books.witnessed === 0 ? ['no stream was cut whose progress had to be recorded'] : []),
  ];
}

async function untilAllEnded(simulator: SimulatorProcess): Promise<void> {
  await eventually(
    () => simulator.truths().filter(({ ending }) => ending === 'open').length,
    (open) => open === 0,
    20_000,
  );
}

/**
 * Kills the processes of a fleet under load, then sends a burst of calls on a key near its limit, and compares the
 * books with the responses of the simulated vendors. Rejects if something could not be measured; `problems` has the
 * errors that were found.
 */
export async function auditCrashes(options: CrashOptions): Promise<CrashFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-audit-truth-'));
  const pace = `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`;
  try {
    await using simulator = await startSimulatorProcess(join(folder, 'truth.jsonl'), { pace, faults });
    await using fleet = await createFleet(options.engine, {
      upstreams: simulatedUpstreams(simulator.addresses),
    });
    await fleet.start();
    // The limit is high enough that no call is refused. All of the money is leased and held as soon as the processes
    // know it.
    await limitKey(fleet, { spendTotal: '900000' });
    const audit = new Audit(fleet, options);
    await audit.killUnderLoad();
    await untilAllEnded(simulator);
    await fleet.stop();
    const spent = sumOf(await readEntries(fleet));
    const limit = spent + audit.crowdNanoUsd();
    let crowd: readonly ClientView[] = [];
    if (options.crowd > 0) {
      await limitKey(fleet, { spendTotal: usd(limit) });
      await fleet.start();
      crowd = await audit.crowd();
      await untilAllEnded(simulator);
      await fleet.stop();
    }
    const crowdServed = crowd.filter(({ complete }) => complete).length;
    const entries = await readEntries(fleet);
    const books = auditBooks({ entries, truths: simulator.truths(), clients: audit.views, isWhole: true });
    const credits = await auditCredits(fleet);
    const total = sumOf(entries);
    const printed = /^.*(?:unhandled|uncaught|TypeError|RangeError|"quarantined":\[").*$/im.exec(fleet.output())?.[0];
    const retried = entries.filter(({ failedAttempts }) => (failedAttempts?.length ?? 0) > 0).length;
    const isMissing = (problem: string): boolean => /no row, although/.test(problem);
    const isDouble = (problem: string): boolean => /there twice|stands for two calls|rows for the one call/.test(problem);
    return {
      calls: audit.views.length,
      rows: entries.length,
      retried,
      missing: books.problems.filter(isMissing).length,
      doubled: books.problems.filter(isDouble).length,
      shortfalls: books.shortfalls,
      witnessed: books.witnessed,
      heldAtRestNanoUsd: credits.leased,
      overLimitNanoUsd: total > limit ? total - limit : 0n,
      crowdServed,
      crowdStatuses: Object.fromEntries([...Map.groupBy(crowd, ({ status }) => status)].map(([status, views]) => [status, views.length])),
      crowdLeftNanoUsd: limit - total,
      problems: [
        ...books.problems,
        ...checkMedian(books.shortfalls),
        ...checkStruck(books, simulator.truths(), retried),
        ...credits.problems,
        ...(credits.leased === 0n ? [] : [`${usd(credits.leased)} USD are leased although no call is running`]),
        ...(total > limit ? [`${usd(total - limit)} USD were spent beyond the limit`] : []),
        ...(options.crowd > 0 && crowdServed === 0 ? ['no call of the burst was served'] : []),
        ...(printed === undefined ? [] : [`a gateway printed ${printed}`]),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
