import { isolatedJob, JobError } from '../../../../platform/isolation/isolated-job.ts';
import { createJobPool, type JobPool, type JobPoolOptions } from '../../../../platform/isolation/job-pool.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type * as CheckSchemaJob from './check-schema-job.ts';
import { writeSchema } from './write-schema.ts';

export type SchemaVerdict = CheckSchemaJob.SchemaVerdict;

/** Whose check it is, and who gives it up. */
type CheckOptions = { readonly tenant: string; readonly signal: AbortSignal };

/** Checks replies against schemas of clients, in threads: neither a schema nor its patterns can hold up the event loop, or another tenant. */
export type SchemaChecker = {
  /** Compiles a schema ahead of its check. The verdict is `unchecked` where the check is bound to be, and else `fits`. */
  readonly prepare: (schema: JsonObject, options: CheckOptions) => Promise<SchemaVerdict>;
  /** Rejects with the signal's reason, and never otherwise. */
  readonly check: (text: string, schema: JsonObject, options: CheckOptions) => Promise<SchemaVerdict>;
  readonly close: () => Promise<void>;
};

const replyCharactersMax = 5_000_000;

/** A reply waits so long for its turn and its check, behind others of its tenant. */
const waitMsMax = 15_000;

const checkJob = isolatedJob<typeof CheckSchemaJob>('check-schema', new URL('./check-schema-job.ts', import.meta.url));

/**
 * The job itself stops a schema after less than a second of work. What it cannot stop, or what has no processor for that long, is ended after
 * `timeoutMs` together with its thread.
 */
const defaults: JobPoolOptions = {
  name: 'schemas',
  threadsMax: 2,
  memoryMegabytes: 128,
  timeoutMs: 8000,
  outputBytesMax: 65_536,
  waitingMax: 512,
  waitingPerTenantMax: 64,
};

/** Why a check came to nothing, for a client. */
function describe(error: unknown): string {
  if (!(error instanceof JobError)) return 'the check waited too long for its turn';
  switch (error.failure) {
    case 'too-long':
      return 'checking the reply takes too long';
    case 'too-much-memory':
      return 'checking the reply takes too much memory';
    case 'too-busy':
      return 'too many replies wait to be checked';
    case 'too-much-output':
    case 'threw':
    case 'crashed':
    case 'closed':
      return 'the check was broken off';
  }
}

async function runJob(pool: JobPool, input: CheckSchemaJob.SchemaCheckInput, { tenant, signal }: CheckOptions): Promise<SchemaVerdict> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(waitMsMax)]);
  try {
    return await pool.run(checkJob, input, { tenant, signal: limited });
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'unchecked', reason: describe(error) };
  }
}

/** Starts no thread before there is something to check. */
export function createSchemaChecker(options: Partial<JobPoolOptions> = {}): SchemaChecker {
  const pool = createJobPool({ ...defaults, ...options });
  const writtenOf = new WeakMap<JsonObject, ReturnType<typeof writeSchema>>();
  /** A schema is written once: it is needed ahead of the reply, for the reply, and for the repaired one. */
  const write = (schema: JsonObject): string | undefined => {
    if (!writtenOf.has(schema)) writtenOf.set(schema, writeSchema(schema));
    return writtenOf.get(schema);
  };
  const run = async (text: string | undefined, schema: JsonObject, asked: CheckOptions): Promise<SchemaVerdict> => {
    asked.signal.throwIfAborted();
    if (text !== undefined && text.length > replyCharactersMax) return { kind: 'unchecked', reason: 'the reply is too long' };
    const written = write(schema);
    if (written === undefined) return { kind: 'unchecked', reason: 'the schema is too large' };
    return await runJob(pool, { schema: written, ...(text === undefined ? {} : { text }) }, asked);
  };
  return {
    prepare: (schema, asked) => run(undefined, schema, asked),
    check: run,
    close: pool.close,
  };
}
