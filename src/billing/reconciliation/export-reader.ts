import { isolatedJob, JobError } from '../../platform/isolation/isolated-job.ts';
import { createJobPool, type JobPoolOptions } from '../../platform/isolation/job-pool.ts';
import type { ExportOrder, ExportPart } from './read-export-job.ts';
import type * as ReadExportJob from './read-export-job.ts';
import { ExportError } from './vendor-usage.ts';

const readExportJob = isolatedJob<typeof ReadExportJob>('read-vendor-export', new URL('./read-export-job.ts', import.meta.url));

/** Reads vendors' exports in a thread that can be terminated: anybody may have written them. */
export type ExportReader = {
  /**
   * @param readAt the bytes from `start` to before `end` of the file
   * @param tenant who sent it
   * @returns the account, as encodeAccount writes it
   * @throws ExportError with the place
   * @throws JobError `too-busy`, `closed` or `crashed`
   */
  readonly read: (
    order: ExportOrder,
    readAt: (part: ExportPart) => Promise<Uint8Array>,
    options: { readonly tenant: string; readonly signal: AbortSignal },
  ) => Promise<string>;
  readonly close: () => Promise<void>;
};

const limits = {
  threadsMax: 1,
  memoryMegabytes: 768,
  timeoutMs: 25_000,
  outputBytesMax: 16 * 1024 * 1024,
  waitingMax: 4,
  waitingPerTenantMax: 2,
} as const;

const reasons: Readonly<Partial<Record<JobError['failure'], string>>> = {
  'too-long': 'takes too long to read: export fewer days',
  'too-much-memory': 'needs too much memory to read: export fewer days',
  'too-much-output': 'has too many rows: export fewer days',
  threw: 'cannot be read',
};

export function createExportReader(options: Partial<JobPoolOptions> = {}): ExportReader {
  const pool = createJobPool({ name: 'vendor exports', ...limits, ...options });
  return {
    read: async (order, readAt, { tenant, signal }) => {
      const outcome = await pool.run(readExportJob, order, { tenant, signal, answer: readAt }).catch((error: unknown) => {
        const reason = error instanceof JobError ? reasons[error.failure] : undefined;
        if (reason === undefined) throw error;
        throw new ExportError(`the file ${reason}`);
      });
      if (outcome.type === 'problem') throw new ExportError(outcome.problem);
      return outcome.json;
    },
    close: pool.close,
  };
}
