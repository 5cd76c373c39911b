import assert from 'node:assert/strict';

import type { Payer } from '../../../src/billing/credits/credit-desk.ts';
import type { CallEntry } from '../../../src/billing/ledger/call-entry.ts';
import type { ExpectedRow, SimulatedWorld } from '../../../src/billing/testing/simulation/simulated-world.ts';
import { seededRandom } from '../../../src/platform/seeded-random.ts';
import type { SimulatedProcess } from '../../../src/billing/testing/simulation/simulated-process.ts';
import type { PeerProcess } from '../../../src/billing/testing/simulation/peer-process.ts';
import { beginHeld } from '../../../src/gateway/endpoints/videos/create/begin-held.ts';
import { GatewayError } from '../../../src/inference/gateway-error.ts';
import type { Usage } from '../../../src/inference/usage.ts';
import { silentLogger } from '../../../src/platform/log.ts';
import { createSealer } from '../../../src/platform/seal/sealer.ts';
import { SimulatedProcess as TaskProcess } from '../../../src/tasks/testing/simulation/simulated-process.ts';
import { SimulatedStorage } from '../../../src/tasks/testing/simulation/simulated-storage.ts';
import { SimulatedUpstreams, type UpstreamScript } from '../../../src/tasks/testing/simulation/simulated-upstreams.ts';
import { plainScript } from '../../../src/tasks/testing/simulation/simulated-world.ts';
import type { NewVideoTask } from '../../../src/tasks/submit-task.ts';
import { defaultTaskSettings, type VideoTasksOptions, type Wait } from '../../../src/tasks/task-parts.ts';
import type { TaskStore } from '../../../src/tasks/task-store.ts';
import type { VideoTask } from '../../../src/tasks/video-task.ts';
import type { StoreBooks } from './store-books.ts';

const longestMs = 8700;
/** High enough that limits are reached: two cents per second. */
const nanoUsdPerMs = 20_000n;
const wishesPerCheck = 10;
const refusal = { upstreamStatus: 400, errorCode: 'upstream_refused_request', durationMs: 20 };

const costOf = (usage: Usage): bigint => BigInt(usage.outputVideoMs ?? 0) * nanoUsdPerMs;

/** Uses the timers of the world, which are mocked. */
const waitByWorld: Wait = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });

/** The result of a request for a video: a task, a refusal of its upstream, or an unknown result. */
type Wish = { readonly task?: VideoTask; readonly isRefused?: boolean };

/**
 * Clients that order videos from the processes of a world. The hold becomes the task's, outlives the process, and is
 * settled together with the end of the task in one transaction. The upstream is late, fails, hides what it bills, and
 * is polled by processes that die and lose their store.
 */
export class VideoTrade implements PeerProcess {
  readonly counts = { videos: 0, videosRefused: 0, videosCompleted: 0, videosVoided: 0, videosWithheld: 0, videosLost: 0 };
  readonly #world: SimulatedWorld;
  readonly #books: StoreBooks;
  readonly #tasks: TaskStore;
  readonly #random: () => number;
  readonly #stories = new Map<string, UpstreamScript>();
  readonly #payerOf = new Map<string, Payer>();
  readonly #wishes = new Map<string, Wish>();
  readonly #upstreams: SimulatedUpstreams;
  readonly #storage: SimulatedStorage;
  readonly #processes = new Map<SimulatedProcess, TaskProcess>();
  /** The spend that processes counted without an answer of the store. */
  readonly #doubtful = new Map<string, bigint>();
  /** The first problem that occurred during the run. */
  #failure: unknown;
  #ids = 0;
  #open: number | undefined;

  constructor(world: SimulatedWorld, books: StoreBooks, seed: number) {
    const { nowMs } = world.clock;
    this.#world = world;
    this.#books = books;
    this.#tasks = books.tasksOf('auditor');
    this.#random = seededRandom(seed);
    this.#upstreams = new SimulatedUpstreams({ nowMs, random: this.#random, stories: this.#stories });
    this.#storage = new SimulatedStorage(nowMs);
  }

  begin(process: SimulatedProcess): void {
    const mishaps = { none: 'none', down: 'failed-before', lost: 'failed-after' } as const;
    this.#processes.set(process, new TaskProcess(this.#options(process.nodeId), () => mishaps[process.fault]));
  }

  die(process: SimulatedProcess): void {
    const tasks = this.#processes.get(process);
    if (tasks !== undefined) tasks.isAlive = false;
  }

  doubtful(nodeId: string): bigint {
    return this.#doubtful.get(nodeId) ?? 0n;
  }

  /** Each of the pots has a hold of the same amount. */
  #doubt(nodeId: string, { heldNanoUsd, heldPots = 0 }: NewVideoTask): void {
    const pots = BigInt(heldPots.toString(2).replaceAll('0', '').length);
    this.#doubtful.set(nodeId, this.doubtful(nodeId) + heldNanoUsd * pots);
  }

  act(process: SimulatedProcess, payer: Payer): void {
    const intent = this.#plan(payer);
    this.counts.videos += 1;
    if (this.counts.videos % wishesPerCheck === 0) this.#watch(this.#books.checkReserves());
    this.#wishes.set(intent.callId, {});
    // A client whose hold is refused, or whose store is unavailable, has an error answer.
    this.#watch(
      this.#make(process, payer, intent).catch((error: unknown) => {
        if (!(error instanceof GatewayError)) throw error;
        this.counts.videosRefused += 1;
      }),
    );
  }

  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => (this.#failure ??= error));
  }

  /** Queries the number of open tasks; the result is that of the previous query. */
  isOver(): boolean {
    void this.#tasks.countTasks(0).then(({ open }) => (this.#open = open));
    return this.#open === 0;
  }

  #options(nodeId: string): VideoTasksOptions & { readonly wait: Wait } {
    return {
      store: this.#books.tasksOf(nodeId),
      upstreams: this.#upstreams,
      storage: this.#storage,
      clock: this.#world.clock,
      logger: silentLogger,
      newId: (prefix) => `${prefix}_${(this.#ids += 1)}`,
      random: this.#random,
      sealer: createSealer(Buffer.alloc(32, 7)),
      // The clocks advance by hours in a moment, so this must not count as a time-out.
      settings: () => ({ ...defaultTaskSettings, giveUpMs: 90 * 24 * 3_600_000 }),
      retentionMs: () => 90 * 24 * 3_600_000,
      rate: (_task, usage) => ({ charge: { amountNanoUsd: costOf(usage), lines: [] } }),
      sealUrl: (url) => new Uint8Array(Buffer.from(url)),
      wait: waitByWorld,
    };
  }

  async #make(process: SimulatedProcess, payer: Payer, intent: NewVideoTask): Promise<void> {
    const { clock } = this.#world;
    const own = this.#processes.get(process);
    assert.ok(own);
    const desk = { credits: process.desk, clock };
    const { task } = await beginHeld(desk, payer, intent, (held) =>
      own.tasks.begin(held).catch((error: unknown) => {
        this.#doubt(process.nodeId, held);
        throw error;
      }),
    );
    const { callId } = intent;
    if (this.#random() < 0.1) {
      this.#wishes.set(callId, { task, isRefused: true });
      return await own.tasks.refuse(task, refusal);
    }
    this.#wishes.set(callId, { task });
    const taken = await own.call(async () => this.#upstreams.submit(callId)).catch(() => undefined);
    if (taken === undefined) await own.tasks.leaveUnclear(task);
    else await own.tasks.accept(task, taken.upstreamTaskId, taken.reading);
  }

  #plan(payer: Payer): NewVideoTask {
    const callId = `v${(this.#ids += 1)}`;
    const story = this.#story();
    this.#stories.set(callId, story);
    this.#payerOf.set(callId, payer);
    const heldUsage: Usage = { outputVideoMs: longestMs };
    return {
      callId,
      userName: payer.userName,
      keyId: payer.id,
      keyName: payer.id,
      form: 'video-generations',
      mode: 'text',
      requestedModel: 'v-1',
      upstream: 'acme',
      credentialId: 'first',
      vendor: 'acme',
      upstreamModel: 'v-1',
      protocol: 'xai-videos',
      createdAtMs: this.#world.nowMs,
      priceVersion: 'v',
      pricingParameters: {},
      heldUsage,
      heldNanoUsd: costOf(heldUsage),
      request: {
        prompt: 'a cat',
        metadata: '{}',
        ...(story.isIdempotent ? { submission: { path: '/videos', headers: {}, bodyBase64: 'e30=' } } : {}),
      },
    };
  }

  /** Some take a few seconds, and some far longer than the lifetime of the processes that began them. */
  #story(): UpstreamScript {
    const random = this.#random;
    const lot = random();
    return {
      ...plainScript,
      queuedMs: random() * 5000,
      workMs: random() ** 3 * 2_000_000,
      end: lot < 0.7 ? 'completed' : lot < 0.85 ? 'failed' : 'moderated',
      durationMs: random() < 0.7 ? 1 + Math.floor(random() * longestMs) : undefined,
      isIdempotent: random() < 0.7,
      badFiles: random() < 0.8 ? 0 : 1,
    };
  }

  /**
   * The expected rows of the videos, from their upstream's behaviour and their tasks' phases. Throws if a task differs.
   */
  async expectations(): Promise<ReadonlyMap<string, ExpectedRow>> {
    assert.ifError(this.#failure);
    const rows = new Map((await this.#books.entries()).map((entry) => [entry.callId, entry]));
    const expected = new Map<string, ExpectedRow>();
    for (const [callId, wish] of this.#wishes) {
      const exact = await this.#amountOf(callId, wish, rows.get(callId));
      expected.set(callId, { least: exact, most: exact, mayBeMissing: this.#upstreams.jobsOf(callId).length === 0 });
    }
    return expected;
  }

  async #amountOf(callId: string, { task: begun, isRefused }: Wish, row: CallEntry | undefined): Promise<bigint> {
    const story = this.#stories.get(callId);
    const userName = this.#payerOf.get(callId)?.userName;
    assert.ok(story && userName !== undefined);
    const task = begun === undefined ? undefined : await this.#tasks.findTask({ userName, id: begun.id });
    const jobs = this.#upstreams.jobsOf(callId).length;
    assert.ok(jobs <= 1, `${callId} was made twice`);
    // Without a job there is no cost, whatever phase the task reached.
    if (isRefused === true || task === undefined || task.error?.code === 'submission_lost') {
      this.counts.videosLost += task === undefined ? 0 : 1;
      assert.ok(task === undefined || !story.isIdempotent, `${callId} was abandoned although it could be submitted again`);
      return 0n;
    }
    assert.ok(task.phase === 'completed' || task.phase === 'failed', `${task.id} is ${task.phase} at rest`);
    const amount = story.end === 'failed' ? 0n : costOf({ outputVideoMs: story.durationMs ?? longestMs });
    assert.equal(task.phase, story.end === 'completed' ? 'completed' : 'failed', `${task.id}: ${task.error?.code}`);
    assert.deepEqual([task.chargedNanoUsd, row?.acceptedAtMs], [amount, task.createdAtMs], `the row of ${task.id}`);
    this.counts[story.end === 'completed' ? 'videosCompleted' : story.end === 'failed' ? 'videosVoided' : 'videosWithheld'] += 1;
    return amount;
  }
}
