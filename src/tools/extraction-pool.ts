import { isolatedJob, JobError } from '../platform/isolation/isolated-job.ts';
import { createJobPool } from '../platform/isolation/job-pool.ts';
import type * as ExtractPageJob from './extract-page-job.ts';
import type { ExtractedPage, RawPage } from './extract-page.ts';

/** Reads pages in threads: what a stranger wrote cannot stop the gateway. */
export type ExtractionPool = {
  /**
   * Reads one page. Undefined for what cannot be read: no text, a page that took too long or too much memory and of which there is no quick reading.
   * Rejects with the signal's reason, or where too many wait.
   */
  readonly extract: (
    page: RawPage,
    options: { readonly tenant: string; readonly signal: AbortSignal },
  ) => Promise<ExtractedPage | undefined>;
  readonly close: () => Promise<void>;
};

export type ExtractionPoolOptions = {
  readonly threadsMax: number;
  /** For one page, from when it is begun. Beginning the thread is not counted. */
  readonly pageTimeoutMs: number;
  readonly waitingMax: number;
  readonly heapMegabytesMax: number;
};

const defaults: ExtractionPoolOptions = { threadsMax: 3, pageTimeoutMs: 3000, waitingMax: 64, heapMegabytesMax: 256 };

/** A title, a date and a text of a million characters, each of up to three bytes. */
const outputBytesMax = 4 * 1024 * 1024;

const extractPageJob = isolatedJob<typeof ExtractPageJob>('read-page', new URL('./extract-page-job.ts', import.meta.url));

/** Starts no thread before there is a page. */
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
        if (error.failure === 'too-busy') throw new Error('too many pages wait to be read', { cause: error });
        // Out of time or memory, for example. What the page was, its quick reading says.
        return draft;
      }
    },
    close: pool.close,
  };
}
