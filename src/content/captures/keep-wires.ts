import type { Clock } from '../../platform/clock.ts';
import { isolatedJob } from '../../platform/isolation/isolated-job.ts';
import { createJobPool } from '../../platform/isolation/job-pool.ts';
import type { Logger } from '../../platform/log.ts';
import type { Sealer } from '../../platform/seal/sealer.ts';
import { type Capture, captureLimits, type CaptureStore } from './capture.ts';
import type * as CleanJob from './clean-job.ts';
import { sealName } from './manage-captures.ts';
import type { RawWires } from './wires.ts';

export type WireKeeper = {
  /** Keeps the wires of a call, without waiting. A failure is logged, and the call is not kept. */
  readonly keep: (call: { readonly callId: string; readonly atMs: number; readonly wires: RawWires }, order: KeepOrder) => void;
  readonly close: () => Promise<void>;
};
type KeepOrder = { readonly capture: Capture; readonly credentials: readonly string[] };

const cleanJob = isolatedJob<typeof CleanJob>('clean wires', new URL('./clean-job.ts', import.meta.url));
const waitingMax = 100;
const closeMsMax = 5000;

/** Cleans wires in a thread, seals them, and gives them to the store. */
export function createWireKeeper(parts: {
  readonly store: Pick<CaptureStore, 'keepWires'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}): WireKeeper {
  const { store, sealer, clock, logger } = parts;
  const end = new AbortController();
  const pool = createJobPool({
    name: 'captures',
    threadsMax: 1,
    memoryMegabytes: 256,
    timeoutMs: 20_000,
    outputBytesMax: 16 * captureLimits.wireBytes,
    waitingMax,
    waitingPerTenantMax: waitingMax,
  });
  const running = new Set<Promise<void>>();
  const keepOne: (...call: Parameters<WireKeeper['keep']>) => Promise<void> = async ({ callId, atMs, wires }, { capture, credentials }) => {
    const options = { tenant: capture.keyId, signal: end.signal };
    const cleaned = await pool.run(cleanJob, { wires, credentials }, options);
    const nowMs = clock.nowMs();
    const result = await store.keepWires({
      callId,
      captureId: capture.id,
      atMs,
      nowMs,
      expiresAtMs: nowMs + captureLimits.keepMs,
      allBytesMax: captureLimits.allBytes,
      sealed: sealer.seal(sealName(callId), cleaned),
    });
    if (result === 'full') logger.warn({ callId }, 'captured call not kept because captures are full');
  };
  return {
    keep: (call, order) => {
      const keeping: Promise<void> = keepOne(call, order)
        .catch((error: unknown) => {
          // The error of a job may have text of the call in it, so only its class is logged.
          logger.warn({ callId: call.callId, kind: error instanceof Error ? error.name : 'unknown' }, 'keeping a captured call failed');
        })
        .finally(() => running.delete(keeping));
      running.add(keeping);
    },
    close: async () => {
      const timer = setTimeout(() => end.abort(new Error('the gateway ends')), closeMsMax);
      await Promise.all(running);
      clearTimeout(timer);
      await pool.close();
    },
  };
}
