import type { CallRecords } from './call-records.ts';
import type { QueuedFault } from './faults.ts';
import { createPromptCache, type PromptCache } from './prompt-cache.ts';
import type { SimulatedVendor } from './simulated-vendor.ts';
import type { Pace } from './steering.ts';
import { createVendorMemory } from './vendor-memory.ts';
import { createVideoJobs, type VideoJobs } from './videos/video-jobs.ts';
import type { VideoScript } from './videos/video-script.ts';

export type SimulatorClock = { readonly nowMs: () => number };

/** The state that all vendors of one simulator share. */
export type SimulatorState = {
  readonly seed: string;
  readonly clock: SimulatorClock;
  /** Known credentials; undefined accepts any non-empty one. */
  readonly apiKeys: Set<string> | undefined;
  readonly records: CallRecords;
  readonly cache: PromptCache;
  readonly memoryOf: (vendor: SimulatedVendor['name']) => ReturnType<typeof createVendorMemory>;
  readonly numberCall: (fingerprint: string) => number;
  readonly videoJobs: VideoJobs;
  /** The default behaviour of video jobs. */
  videoScript: VideoScript;
  pace: Pace;
  faults: QueuedFault[];
  /** Forgets calls, caches, stored replies, video jobs, faults and counts, and restores the initial pace. */
  readonly reset: () => void;
};

const fingerprintsMax = 50_000;

export function createSimulatorState(options: {
  readonly seed: string;
  readonly clock: SimulatorClock;
  readonly apiKeys?: readonly string[] | undefined;
  readonly records: CallRecords;
  readonly pace: Pace;
  readonly videoScript?: VideoScript;
}): SimulatorState {
  const memories = new Map<SimulatedVendor['name'], ReturnType<typeof createVendorMemory>>();
  const cache = createPromptCache();
  const counter = createCallCounter();
  const videoJobs = createVideoJobs();
  const videoScript = options.videoScript ?? {};
  return {
    seed: options.seed,
    clock: options.clock,
    apiKeys: options.apiKeys === undefined ? undefined : new Set(options.apiKeys),
    records: options.records,
    cache,
    memoryOf(vendor) {
      const memory = memories.get(vendor) ?? createVendorMemory();
      memories.set(vendor, memory);
      return memory;
    },
    numberCall: counter.next,
    videoJobs,
    videoScript,
    pace: options.pace,
    faults: [],
    reset() {
      options.records.clear();
      cache.clear();
      for (const memory of memories.values()) memory.clear();
      counter.clear();
      videoJobs.clear();
      this.videoScript = videoScript;
      this.faults = [];
      this.pace = options.pace;
    },
  };
}

/**
 * Counts calls with the same fingerprint. After too many different ones it starts again, with numbers that were never
 * used.
 */
function createCallCounter(): { readonly next: (fingerprint: string) => number; readonly clear: () => void } {
  const counts = new Map<string, number>();
  let base = 0;
  return {
    next(fingerprint) {
      const count = counts.get(fingerprint) ?? base;
      counts.set(fingerprint, count + 1);
      if (counts.size > fingerprintsMax) {
        base = Math.max(base, ...counts.values());
        counts.clear();
      }
      return count;
    },
    clear() {
      counts.clear();
      base = 0;
    },
  };
}
