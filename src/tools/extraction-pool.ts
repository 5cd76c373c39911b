import { isolatedJob, JobError } from '../platform/isolation/isolated-job.ts';
import { createJobPool } from '../platform/isolation/job-pool.ts';
import type * as ExtractPageJob from './extract-page-job.ts';
import type { ExtractedPage, RawPage } from './extract-page.ts';

/** Reads pages in threads, so that untrusted content cannot block the gateway. */
export type ExtractionPool = {
  /**
   * Reads one page. Undefined if it cannot be read: it is not text, or it took too long or too much memory without a
   * quick reading. Rejects with the signal's reason, or if too many pages wait.
   */
  readonly extract: (
    page: RawPage,
    options: { readonly tenant: string; readonly signal: AbortSignal },
  ) => Promise<ExtractedPage | undefined>;
  readonly close: () => Promise<void>;
};

export type ExtractionPoolOptions = {
  readonly threadsMax: number;
  /** The time limit of one page, without the start of its thread. */
  readonly pageTimeoutMs: number;
  readonly waitingMax: number;
  readonly heapMegabytesMax: number;
};

const defaults: ExtractionPoolOptions = { threadsMax: 3, pageTimeoutMs: 3000, waitingMax: 64, heapMegabytesMax: 256 };

/** A title, a date and a text of a million characters with up to three bytes each. */
const outputBytesMax = 4 * 1024 * 1024;

const extractPageJob = isolatedJob<typeof ExtractPageJob>('read-page', new URL('./extract-page-job.ts', import.meta.url));

/** Creates a pool. It starts no thread before the first page. */
export function createExtractionPool(options: Partial<ExtractionPoolOptions> = {}): ExtractionPool {
  const { threadsMax, pageTimeoutMs, waitingMax, heapMegabytesMax } = { ...defaults, ...options };
  const pool = createJobPool({
    name: 'pages',
    threadsMax,
    memoryMegabytes: heapMegabytesMax,
    timeoutMs: pageTimeoutMs,
    outputBytesMax,
    waitingMax,
    waitingPerTenantMax: Math.max(1, Math.ceil(waitingMax / 2)),
  });
  return {
    extract: async (page, { tenant, signal }) => {
      let draft: ExtractedPage | undefined;
      const answer = (quick: ExtractedPage): void => void (draft = quick);
      try {
        return await pool.run(extractPageJob, page, { tenant, signal, answer });
      } catch (error) {
        if (!(error instanceof JobError)) throw error;
        if (error.failure === 'too-busy') throw new Error('too many pages wait for a reader', { cause: error });
        // For example out of time or memory. The quick reading remains.
        return draft;
      }
    },
    close: pool.close,
  };
}
