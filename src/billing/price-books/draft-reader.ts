import { JobError, isolatedJob } from '../../platform/isolation/isolated-job.ts';
import { createJobPool, type JobPoolOptions } from '../../platform/isolation/job-pool.ts';
import { PriceBookError } from '../rating/parse-price-book.ts';
import type { DraftText, ReadDraft } from './read-draft-job.ts';
import type * as ReadDraftJob from './read-draft-job.ts';

const readDraftJob = isolatedJob<typeof ReadDraftJob>('read-price-list', new URL('./read-draft-job.ts', import.meta.url));

/** Reads price lists in threads that can be terminated: they come from other programs. */
export type DraftReader = {
  /**
   * @param tenant who sent the text
   * @throws PriceBookError with every problem and its place
   * @throws JobError `too-busy`, `closed` or `crashed`
   */
  readonly read: (draft: DraftText, tenant: string, signal: AbortSignal) => Promise<Extract<ReadDraft, { readonly type: 'book' }>>;
  readonly close: () => Promise<void>;
};

const limits = {
  threadsMax: 1,
  memoryMegabytes: 256,
  timeoutMs: 10_000,
  outputBytesMax: 16 * 1024 * 1024,
  waitingMax: 8,
  waitingPerTenantMax: 4,
} as const;

const reasons: Readonly<Partial<Record<JobError['failure'], string>>> = {
  'too-long': 'takes too long to read',
  'too-much-memory': 'needs too much memory to read',
  'too-much-output': 'has too many prices',
  threw: 'cannot be read',
};

export function createDraftReader(options: Partial<JobPoolOptions> = {}): DraftReader {
  const pool = createJobPool({ name: 'price lists', ...limits, ...options });
  return {
    read: async (draft, tenant, signal) => {
      const outcome = await pool.run(readDraftJob, draft, { tenant, signal }).catch((error: unknown) => {
        const reason = error instanceof JobError ? reasons[error.failure] : undefined;
        if (reason === undefined) throw error;
        throw new PriceBookError([`The text ${reason}.`]);
      });
      if (outcome.type === 'problems') throw new PriceBookError(outcome.problems);
      return outcome;
    },
    close: pool.close,
  };
}
