import { FairScheduler } from '../../../platform/isolation/fair-scheduler.ts';
import { isolatedJob, JobError } from '../../../platform/isolation/isolated-job.ts';
import { createJobPool, type JobPool } from '../../../platform/isolation/job-pool.ts';
import type { IndexingError } from '../file-objects.ts';
import type * as ExtractionJob from './extraction-job.ts';
import type { ExtractedChunks, ExtractionRequest } from './extraction-protocol.ts';

/** A file of a tenant whose text is extracted. */
export type FileToExtract = Omit<ExtractionRequest, 'bytes'> & {
  readonly tenant: string;
  /** Reads the file. It is called when a thread is free, and again if the file moves to the slow lane. */
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
};

export type Extraction = { readonly chunks: ExtractedChunks } | { readonly error: IndexingError };

export type Extractor = {
  /**
   * Reads a file and splits its text. The result contains problems of the file. Rejects with the error of `read`, with
   * the signal's reason, or if the extractor is closed.
   */
  readonly extract: (file: FileToExtract, signal: AbortSignal) => Promise<Extraction>;
  readonly close: () => Promise<void>;
};

export type ExtractionLimits = {
  /** The time after which a file leaves the quick lane and starts again in the slow lane. */
  readonly quickMs: number;
  /** The time limit of one file. */
  readonly timeoutMs: number;
  /** Memory of a thread for objects, and the same amount for buffers. */
  readonly memoryMegabytes: number;
};

const defaultExtractionLimits: ExtractionLimits = { quickMs: 1000, timeoutMs: 60_000, memoryMegabytes: 512 };

const extractionJob = isolatedJob<typeof ExtractionJob>('read-file', new URL('./extraction-job.ts', import.meta.url));
/** More files than the indexer processes at once. */
const waitingMax = 64;
const outputBytesMax = 65_536;

/** Files are in memory only while they are indexed. A tenant uses all slots except one at most. */
type Lane = { readonly pool: JobPool; readonly scheduler: FairScheduler };

function openLane(name: string, threads: number, { timeoutMs, memoryMegabytes }: ExtractionLimits): Lane {
  const waiting = { waitingMax, waitingPerTenantMax: waitingMax };
  return {
    pool: createJobPool({ name, threadsMax: threads, memoryMegabytes, timeoutMs, outputBytesMax, ...waiting }),
    scheduler: new FairScheduler({ atOnceMax: threads, atOncePerTenantMax: Math.max(1, threads - 1), ...waiting }),
  };
}

/**
 * Creates an extractor with two lanes. A small file waits at most `quickMs` for a thread, for any number of large or
 * hostile files of other tenants.
 */
export function createExtractor(limits: ExtractionLimits = defaultExtractionLimits): Extractor {
  const quick = openLane('files', 3, { ...limits, timeoutMs: Math.min(limits.quickMs, limits.timeoutMs) });
  const slow = openLane('slow-files', 2, limits);
  return {
    extract: async (file, signal) => {
      try {
        return await runIn(quick, file, signal);
      } catch (error) {
        if (!isTooLong(error)) return describe(error);
      }
      try {
        return await runIn(slow, file, signal);
      } catch (error) {
        if (isTooLong(error)) return invalid(`Reading the file took longer than ${limits.timeoutMs} ms.`);
        return describe(error);
      }
    },
    close: async () => {
      await Promise.all([quick.pool.close(), slow.pool.close()]);
    },
  };
}

const isTooLong = (error: unknown): boolean => error instanceof JobError && error.failure === 'too-long';

async function runIn({ pool, scheduler }: Lane, { tenant, read, ...request }: FileToExtract, signal: AbortSignal): Promise<Extraction> {
  const leave = await scheduler.enter(tenant, signal);
  if (leave === undefined) throw new JobError('too-busy', 'too many files wait for a reader');
  try {
    const bytes = await read();
    const chunks: ExtractedChunks[number][] = [];
    const answer = (part: ExtractedChunks): void => void chunks.push(...part);
    const reply = await pool.run(extractionJob, { ...request, bytes }, { tenant, signal, transferred: [bytes.buffer], answer });
    return 'error' in reply ? reply : { chunks };
  } finally {
    leave();
  }
}

/** Describes for the owner how a file failed. @throws errors that are not caused by the file */
function describe(error: unknown): Extraction {
  if (!(error instanceof JobError) || error.failure === 'closed' || error.failure === 'too-busy') throw error;
  if (error.failure === 'threw') return invalid('The file is damaged or cannot be read.');
  return invalid('Reading the file took more memory than the limit.');
}

function invalid(message: string): Extraction {
  return { error: { code: 'invalid_file', message } };
}
