import type { LimitedSubject, LimitRefusal } from '../../../gateway/admission/limits/limiter.ts';
import type { RateLimitState } from '../../../inference/rate-limit-state.ts';
import type { MetricsSnapshot } from '../../../platform/metrics/metrics-snapshot.ts';
import type { ConfigFiles } from '../../config/load-config.ts';
import type { UpstreamSource } from '../../config/build-settings.ts';
import type { DrainPlan } from '../../../gateway/server/drain.ts';
import type { DrainTimes } from '../drain-times.ts';
import type { Welcome } from '../welcome.ts';

/** What a worker is told when it begins. */
export type WorkerStart = {
  /** Which worker it is, from 1; its successor has the same number. */
  readonly worker: number;
  /** Its journal, as a folder of the data directory. Nobody else writes there while it lives. */
  readonly journalSlot: string;
  readonly port: number;
  readonly configPath: string | undefined;
  /** The configuration in force with the others, for when that of the disk cannot be used. */
  readonly lastGood: ConfigFiles | undefined;
};

/** What the ready line says of the gateway. */
export type WorkerReady = {
  readonly source: UpstreamSource['type'];
  /** Their names. */
  readonly upstreams: readonly string[];
  readonly examples: Welcome['examples'];
};

/** What all workers can be asked for at once. */
export type GatherTopics = {
  /** Put into the store what the journal still has. */
  readonly 'ship-journal': { readonly ask: undefined; readonly answer: void };
  /** Put into the store what the proof vault still has. */
  readonly 'write-proofs': { readonly ask: undefined; readonly answer: void };
};

/** The answers of those who gave one; `complete` when nobody is missing, and no dead worker's journal waits to be recovered. */
export type Gathered = { readonly answers: readonly unknown[]; readonly complete: boolean };

/** A limiter's answer. JSON has no infinity: a wait without end has no `waitMs`. */
export type ReserveAnswer =
  | { readonly admitted: true; readonly state: RateLimitState }
  | (Omit<LimitRefusal, 'waitMs'> & { readonly waitMs?: number });

/** What workers ask the primary. */
export type PrimaryTopics = {
  readonly ready: { readonly ask: WorkerReady; readonly answer: void };
  /** It cannot start; the message is for the operator. */
  readonly failed: { readonly ask: string; readonly answer: void };
  /** A connection that was handed over has arrived; the worker has so many now. */
  readonly taken: { readonly ask: { readonly id: number; readonly open: number }; readonly answer: void };
  readonly 'open-connections': { readonly ask: number; readonly answer: void };
  readonly 'config-in-force': { readonly ask: ConfigFiles; readonly answer: void };
  readonly reserve: {
    readonly ask: { readonly id: number; readonly subjects: readonly LimitedSubject[]; readonly tokens: number };
    readonly answer: ReserveAnswer;
  };
  /** A reservation has ended: with the tokens it used, with nothing known of them, or (`given-back`) without a call. */
  readonly 'end-reservation': {
    readonly ask: { readonly id: number; readonly used: number | 'unknown' | 'given-back' };
    readonly answer: void;
  };
  /** Asks all other workers. */
  readonly gather: { readonly ask: { readonly topic: keyof GatherTopics }; readonly answer: Gathered };
};

/** What the primary asks a worker. */
export type WorkerTopics = GatherTopics & {
  /** How its metrics stand; none where nobody wants them. */
  readonly metrics: { readonly ask: undefined; readonly answer: MetricsSnapshot | undefined };
  readonly start: { readonly ask: WorkerStart; readonly answer: void };
  readonly reload: { readonly ask: undefined; readonly answer: void };
  /** Be not ready and ask clients to leave. Answers how long the end may take. */
  readonly leave: { readonly ask: undefined; readonly answer: DrainTimes };
  /** End, by this plan. */
  readonly drain: { readonly ask: DrainPlan; readonly answer: void };
  /** Recover and ship the journal that somebody left in a slot. Answers whether everything of it is in the store now. */
  readonly 'recover-slot': { readonly ask: string; readonly answer: boolean };
};
