import { GatewayError } from '../../../../inference/gateway-error.ts';
import { isolatedJob, JobError } from '../../../../platform/isolation/isolated-job.ts';
import { createJobPool, type JobPoolOptions } from '../../../../platform/isolation/job-pool.ts';
import type * as ReadDocumentJob from '../../../../tools/file-search/extraction/read-document-job.ts';

const readDocumentJob = isolatedJob<typeof ReadDocumentJob>(
  'read-document',
  new URL('../../../../tools/file-search/extraction/read-document-job.ts', import.meta.url),
);

/** Reads documents that an upstream does not accept. They are parsed in threads that can be terminated. */
export type DocumentReader = {
  /**
   * The text of a Word document.
   * Rejects with GatewayError `invalid_value` if the document cannot be read, and with `overloaded`.
   */
  readonly readText: (bytes: Uint8Array<ArrayBuffer>, options: { readonly tenant: string; readonly param: string }) => Promise<string>;
  readonly close: () => Promise<void>;
};

const limits = {
  threadsMax: 2,
  memoryMegabytes: 256,
  timeoutMs: 10_000,
  outputBytesMax: 16 * 1024 * 1024,
  waitingMax: 128,
  waitingPerTenantMax: 16,
} as const;

/** How long a request waits for a thread and the text together. */
const totalMsMax = 30_000;

export function createDocumentReader(options: Partial<JobPoolOptions> = {}): DocumentReader {
  const pool = createJobPool({ name: 'documents', ...limits, ...options });
  return {
    readText: async (bytes, { tenant, param }) => {
      try {
        const signal = AbortSignal.timeout(totalMsMax);
        const text = await pool.run(readDocumentJob, { bytes }, { tenant, signal, transferred: [bytes.buffer] });
        if (text.trim() !== '') return text;
      } catch (cause) {
        throw describeFailure(cause, param);
      }
      throw new GatewayError('invalid_value', `${param}: the document has no text`, { param });
    },
    close: pool.close,
  };
}

function describeFailure(cause: unknown, param: string): GatewayError {
  const failure = cause instanceof JobError ? cause.failure : 'too-long';
  if (failure === 'too-busy' || failure === 'closed' || failure === 'crashed') {
    const message = 'The gateway is overloaded: too many documents are waiting to be read. Please try again in 1s.';
    return new GatewayError('overloaded', message, { retryAfterSeconds: 1, cause });
  }
  const reasons = {
    'too-long': 'takes too long to read',
    'too-much-memory': 'is too large when it is unpacked',
    'too-much-output': 'has too much text',
    threw: 'is damaged, or is not a Word document',
  } as const;
  return new GatewayError('invalid_value', `${param}: the document ${reasons[failure]}; send its text or a PDF instead`, { param, cause });
}
