import type { LimitedSubject, LimitOwner, LimitRefusal, LimitUse } from '../../../gateway/admission/limits/limiter.ts';
import type { RateLimitState } from '../../../inference/rate-limit-state.ts';
import type { MetricsSnapshot } from '../../../platform/metrics/metrics-snapshot.ts';
import type { ConfigFiles } from '../../config/load-config.ts';
import type { UpstreamSource } from '../../config/build-settings.ts';
import type { DrainPlan } from '../../../gateway/server/drain.ts';
import type { DrainTimes } from '../drain-times.ts';
import type { Welcome } from '../welcome.ts';

/** The start message of a worker. */
export type WorkerStart = {
  /** The number of the worker, from 1. Its successor has the same number. */
  readonly worker: number;
  /** The folder of its journal in the data directory. No other process writes there while it lives. */
  readonly journalSlot: string;
  readonly port: number;
  readonly configPath: string | undefined;
  /** The configuration in force, in case the one on disk cannot be used. */
  readonly lastGood: ConfigFiles | undefined;
};

/** The gateway's data for the ready line. */
export type WorkerReady = {
  readonly source: UpstreamSource['type'];
  /** Their names. */
  readonly upstreams: readonly string[];
  readonly examples: Welcome['examples'];
};

/** Requests to all workers. */
export type GatherTopics = {
  /** Ship the rest of the journal to the store. */
  readonly 'ship-journal': { readonly ask: undefined; readonly answer: void };
  /** Write the rest of the proof vault to the store. */
  readonly 'write-proofs': { readonly ask: undefined; readonly answer: void };
};

/**
 * The answers of the workers that answered. `complete`: none is missing, and no journal of a dead worker waits for
 * recovery.
 */
export type GatheredAnswers = { readonly answers: readonly unknown[]; readonly complete: boolean };

/** The answer of a limiter. An endless wait has no `waitMs`, because JSON has no infinity. */
export type ReserveAnswer =
  | { readonly admitted: true; readonly state: RateLimitState }
  | (Omit<LimitRefusal, 'waitMs'> & { readonly waitMs?: number });

/** Requests of workers to the primary. */
export type PrimaryTopics = {
  readonly ready: { readonly ask: WorkerReady; readonly answer: void };
  /** The worker cannot start; the message is for the operator. */
  readonly failed: { readonly ask: string; readonly answer: void };
  /** A connection has arrived; the worker has `open` connections now. */
  readonly taken: { readonly ask: { readonly id: number; readonly open: number }; readonly answer: void };
  readonly 'open-connections': { readonly ask: number; readonly answer: void };
  readonly 'config-in-force': { readonly ask: ConfigFiles; readonly answer: void };
  readonly reserve: {
    readonly ask: { readonly id: number; readonly subjects: readonly LimitedSubject[]; readonly tokens: number };
    readonly answer: ReserveAnswer;
  };
  /** What counts against the limits of owners, in their order. */
  readonly 'limit-use': { readonly ask: readonly LimitOwner[]; readonly answer: readonly LimitUse[] };
  /** A reservation has ended: with its used tokens, with an unknown number, or (`given-back`) without a call. */
  readonly 'end-reservation': {
    readonly ask: { readonly id: number; readonly used: number | 'unknown' | 'given-back' };
    readonly answer: void;
  };
  /** Sends a request to all other workers. */
  readonly gather: { readonly ask: { readonly topic: keyof GatherTopics }; readonly answer: GatheredAnswers };
};

/** Requests of the primary to a worker. */
export type WorkerTopics = GatherTopics & {
  /** Its current metrics; undefined if they are not served. */
  readonly metrics: { readonly ask: undefined; readonly answer: MetricsSnapshot | undefined };
  readonly start: { readonly ask: WorkerStart; readonly answer: void };
  readonly reload: { readonly ask: undefined; readonly answer: void };
  /** Report not ready, and ask clients to disconnect. The answer is how long the shutdown may take. */
  readonly leave: { readonly ask: undefined; readonly answer: DrainTimes };
  /** Shut down, by this plan. */
  readonly drain: { readonly ask: DrainPlan; readonly answer: void };
  /** Recover and ship an abandoned journal. The answer is whether all of it is in the store now. */
  readonly 'recover-slot': { readonly ask: string; readonly answer: boolean };
};
