import { JobError, isolatedJob } from '../../../../platform/isolation/isolated-job.ts';
import { type JobPool, type JobPoolOptions, createJobPool } from '../../../../platform/isolation/job-pool.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../../platform/json/json-value.ts';
import type * as CheckSchemaJob from './check-schema-job.ts';

export type SchemaVerdict = CheckSchemaJob.SchemaVerdict;

/** The tenant of a check, and the signal that cancels it. */
type CheckOptions = { readonly tenant: string; readonly signal: AbortSignal };

/**
 * Checks replies against schemas of clients in threads, so that no schema can block the event loop or another tenant.
 */
export type SchemaChecker = {
  /** Compiles a schema before its check. The verdict is `unchecked` if the check would be, and otherwise `fits`. */
  readonly prepare: (schema: JsonObject, options: CheckOptions) => Promise<SchemaVerdict>;
  /** Rejects only with the signal's reason. */
  readonly check: (text: string, schema: JsonObject, options: CheckOptions) => Promise<SchemaVerdict>;
  readonly close: () => Promise<void>;
};

const replyCharactersMax = 5_000_000;

/** The most time that a reply waits for a thread and its check, behind others of its tenant. */
const waitMsMax = 15_000;

const checkJob = isolatedJob<typeof CheckSchemaJob>('check-schema', new URL('./check-schema-job.ts', import.meta.url));

/**
 * The job itself stops a schema after less than a second of work. A job that cannot, or that has no processor for that
 * long, is terminated with its thread after `timeoutMs`.
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

/** The reason for an unchecked reply, for a client. */
function describe(error: unknown): string {
  if (!(error instanceof JobError)) return 'the check waited too long for a free thread';
  switch (error.failure) {
    case 'too-long':
      return 'checking the reply takes too long';
    case 'too-much-memory':
      return 'checking the reply takes too much memory';
    case 'too-busy':
      return 'too many replies are waiting to be checked';
    case 'too-much-output':
    case 'threw':
    case 'crashed':
    case 'closed':
      return 'the check was interrupted';
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

/** Starts no thread before the first check. */
export function createSchemaChecker(poolOptions: Partial<JobPoolOptions> = {}): SchemaChecker {
  const pool = createJobPool({ ...defaults, ...poolOptions });
  const textOf = new WeakMap<JsonObject, ReturnType<typeof writeSchema>>();
  /** A schema is serialized once: it is needed in advance, for the reply, and for the repaired reply. */
  const write = (schema: JsonObject): string | undefined => {
    if (!textOf.has(schema)) textOf.set(schema, writeSchema(schema));
    return textOf.get(schema);
  };
  const run = async (text: string | undefined, schema: JsonObject, options: CheckOptions): Promise<SchemaVerdict> => {
    options.signal.throwIfAborted();
    if (text !== undefined && text.length > replyCharactersMax) return { kind: 'unchecked', reason: 'the reply is too long' };
    const written = write(schema);
    if (written === undefined) return { kind: 'unchecked', reason: 'the schema is too large' };
    return await runJob(pool, { schema: written, ...(text === undefined ? {} : { text }) }, options);
  };
  return {
    prepare: (schema, options) => run(undefined, schema, options),
    check: run,
    close: pool.close,
  };
}

/** A schema beyond these limits is not checked. Vendors have lower limits. */
const charactersMax = 200_000;
const depthMax = 200;

/**
 * A schema as JSON text for the thread that compiles it. Undefined if it is too large or too deep. It is read only up
 * to the limit, so that a schema of megabytes costs no more than one at the limit.
 */
function writeSchema(schema: JsonObject): string | undefined {
  const left: { readonly value: JsonValue; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  let characters = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next;
    characters += typeof value === 'string' ? value.length + 2 : 2;
    if (characters > charactersMax || depth > depthMax) return undefined;
    if (Array.isArray(value)) {
      if (value.length > charactersMax) return undefined;
      for (const item of value as readonly JsonValue[]) left.push({ value: item, depth: depth + 1 });
    } else if (isJsonObject(value)) {
      for (const name in value) {
        const member = value[name];
        characters += name.length + 3;
        if (characters > charactersMax) return undefined;
        if (member !== undefined) left.push({ value: member, depth: depth + 1 });
      }
    }
  }
  const text = JSON.stringify(schema);
  return text.length > 2 * charactersMax ? undefined : text;
}
