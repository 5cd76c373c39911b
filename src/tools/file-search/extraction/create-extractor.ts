import { FairScheduler } from '../../../platform/isolation/fair-scheduler.ts';
import { isolatedJob, JobError } from '../../../platform/isolation/isolated-job.ts';
import { createJobPool, type JobPool } from '../../../platform/isolation/job-pool.ts';
import type { IndexingError } from '../file-objects.ts';
import type * as ExtractionJob from './extraction-job.ts';
import type { ExtractedChunks, ExtractionRequest } from './extraction-protocol.ts';

/** A file of a tenant whose text is wanted. */
export type FileToExtract = Omit<ExtractionRequest, 'bytes'> & {
  readonly tenant: string;
  /** Reads the file. It is asked when a thread is free, and again where the file takes longer than others wait for. */
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
};

export type Extraction = { readonly chunks: ExtractedChunks } | { readonly error: IndexingError };

export type Extractor = {
  /** Reads a file and cuts its text. What is wrong with the file is in the result; rejects with what `read` rejects with, the signal's reason, or when it is closed. */
  readonly extract: (file: FileToExtract, signal: AbortSignal) => Promise<Extraction>;
  readonly close: () => Promise<void>;
};

export type ExtractionLimits = {
  /** How long one file may take before it makes room for others and is begun again among the slow ones. */
  readonly quickMs: number;
  /** How long one file may take. */
  readonly timeoutMs: number;
  /** Memory of a thread for objects, and again for buffers. */
  readonly memoryMegabytes: number;
};

const defaultExtractionLimits: ExtractionLimits = { quickMs: 1000, timeoutMs: 60_000, memoryMegabytes: 512 };

const extractionJob = isolatedJob<typeof ExtractionJob>('read-file', new URL('./extraction-job.ts', import.meta.url));
/** More files than the indexer takes at once. */
const waitingMax = 64;
const outputBytesMax = 65_536;

/** Files are held in memory only while they are indexed. A tenant uses at most all places but one. */
type Lane = { readonly pool: JobPool; readonly scheduler: FairScheduler };

function openLane(name: string, threads: number, { timeoutMs, memoryMegabytes }: ExtractionLimits): Lane {
  const waiting = { waitingMax, waitingPerTenantMax: waitingMax };
  return {
    pool: createJobPool({ name, threadsMax: threads, memoryMegabytes, timeoutMs, outputBytesMax, ...waiting }),
    scheduler: new FairScheduler({ atOnceMax: threads, atOncePerTenantMax: Math.max(1, threads - 1), ...waiting }),
  };
}

/** Two lanes: nobody's small file waits for longer than `quickMs` for a thread, however many large or hostile files of others there are. */
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
  if (leave === undefined) throw new JobError('too-busy', 'too many files wait to be read');
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

/** What a file did to its reader, in words for its owner. @throws what says nothing about the file */
function describe(error: unknown): Extraction {
  if (!(error instanceof JobError) || error.failure === 'closed' || error.failure === 'too-busy') throw error;
  if (error.failure === 'threw') return invalid('The file is damaged or cannot be read.');
  return invalid('Reading the file took more memory than it may.');
}

function invalid(message: string): Extraction {
  return { error: { code: 'invalid_file', message } };
}
