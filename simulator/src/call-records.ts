import { hash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { JsonRecord, PlannedMedia, PlannedUsage, ReplyPlan } from './simulated-vendor.ts';

/**
 * How a call ended. `refused`: answered with the vendor's own error. `faulted`: damaged or cut by a fault. `open`: not
 * yet.
 */
type CallEnding = 'open' | 'completed' | 'refused' | 'faulted' | 'client-closed';

/** The simulator's own record of one call: the request, the planned answer, and the bytes that it wrote. */
export type CallRecord = {
  /** Number of the call since the start or the last reset, from 1. */
  readonly id: number;
  readonly vendor: string;
  readonly method: string;
  /** Path and query; a key in the query is replaced by its digest. */
  readonly path: string;
  /** `x-simulator-tag` of the call. */
  readonly tag?: string;
  /** Lower-case names; credentials are replaced by the beginning of their SHA-256. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBodySha256: string;
  readonly requestBodyBytes: number;
  /** The parsed body, unless it is too large to keep. */
  requestBody?: JsonRecord;
  /** Fields of a form: texts as received, cut to 1,000 characters; files as their name, type and length. */
  requestForm?: JsonRecord;
  readonly requestId: string;
  model?: string;
  isStream: boolean;
  /** Status written; undefined before the headers. */
  status?: number;
  /** Name of the fault that was applied. */
  fault?: string;
  stop?: ReplyPlan['stop'];
  /** The model's usage, by the plan. Undefined for calls without an answering model. */
  plannedUsage?: PlannedUsage;
  /** The consumed and generated media of a call about media. Undefined for every other call. */
  plannedMedia?: PlannedMedia;
  /**
   * The model's planned answer, in a neutral format. Undefined for calls without an answering model, and for replies
   * that are too long to keep.
   */
  plannedReply?: PlannedReply;
  /** The vendor's usage object as it was written, merged over the events of a stream. Undefined if none was written. */
  reportedUsage?: JsonRecord;
  /** Output tokens handed to the connection so far. */
  emittedTokens: number;
  /** The number of output tokens that were handed over by each time, in steps of 20 ms or more. */
  readonly emissions: { readonly tokens: number; readonly atMs: number }[];
  /** Frames (or the one body) handed to the connection so far. */
  emittedFrames: number;
  ending: CallEnding;
  readonly receivedAtMs: number;
  headersAtMs?: number;
  firstContentAtMs?: number;
  /** When the end was reached or the client's disconnect was noticed. */
  endedAtMs?: number;
};

/** The content of a reply, independent of its format. */
type PlannedReply = Pick<ReplyPlan, 'reasoning' | 'text' | 'refusal' | 'toolCalls' | 'stop' | 'stopSequence'>;

type OpenedCall = Omit<CallRecord, 'id' | 'emittedTokens' | 'emissions' | 'emittedFrames' | 'ending' | 'isStream'>;

const nothingYet = (): Pick<CallRecord, 'isStream' | 'emittedTokens' | 'emissions' | 'emittedFrames' | 'ending'> => ({
  isStream: false,
  emittedTokens: 0,
  emissions: [],
  emittedFrames: 0,
  ending: 'open',
});

export type CallRecords = {
  readonly open: (call: OpenedCall) => CallRecord;
  /** Stores the answer of a call, unless it is too long. */
  readonly keepReply: (call: CallRecord, reply: PlannedReply) => void;
  /** Records the end of a call, once; later ends are ignored. */
  readonly end: (call: CallRecord, ending: Exclude<CallEnding, 'open'>, atMs: number) => void;
  /** The retained calls, oldest first. */
  readonly list: () => readonly CallRecord[];
  readonly get: (id: number) => CallRecord | undefined;
  readonly clear: () => void;
  readonly close: () => void;
};

const callsMax = 10_000;
/** A longer reply text is not kept. */
const replyCharactersMax = 16_384;
/** Only the digest of a larger body is kept. */
const bodyBytesMax = 262_144;
/** Bodies kept together; the oldest are dropped first. */
const bodiesBytesMax = 16_777_216;

/**
 * Keeps the last 10,000 calls. With a record file, each call has one line when it is received and one when it ends,
 * written before the next step. So the last line with an id is the truth about that call, whichever process dies. Lines
 * contain no request bodies.
 */
export function createCallRecords(recordFile?: string): CallRecords {
  const calls = new Map<number, CallRecord>();
  let file = recordFile === undefined ? undefined : openSync(recordFile, 'a', 0o600);
  let lastId = 0;
  let bodiesBytes = 0;
  let oldestBodyId = 1;
  const write = (call: CallRecord): void => {
    if (file === undefined) return;
    const { requestBody: _body, requestForm: _form, plannedReply: _reply, ...line } = call;
    writeSync(file, `${JSON.stringify(line)}\n`);
  };
  const dropBody = (call: CallRecord | undefined): void => {
    if (call?.requestBody === undefined) return;
    bodiesBytes -= call.requestBodyBytes;
    delete call.requestBody;
  };
  const dropOldest = (): void => {
    for (; bodiesBytes > bodiesBytesMax && oldestBodyId < lastId; oldestBodyId++) dropBody(calls.get(oldestBodyId));
    if (calls.size <= callsMax) return;
    const oldestId = calls.keys().next().value ?? 0;
    dropBody(calls.get(oldestId));
    calls.delete(oldestId);
  };
  return {
    open(opened) {
      lastId += 1;
      const call: CallRecord = { id: lastId, ...opened, ...nothingYet() };
      if (call.requestBodyBytes > bodyBytesMax) delete call.requestBody;
      else if (call.requestBody !== undefined) bodiesBytes += call.requestBodyBytes;
      calls.set(call.id, call);
      dropOldest();
      write(call);
      return call;
    },
    keepReply(call, { reasoning, text, refusal, toolCalls, stop, stopSequence }) {
      const characters = (text?.length ?? 0) + (refusal?.length ?? 0) + (reasoning?.text.length ?? 0);
      if (characters > replyCharactersMax) return;
      call.plannedReply = {
        ...(reasoning !== undefined && { reasoning }),
        ...(text !== undefined && { text }),
        ...(refusal !== undefined && { refusal }),
        toolCalls,
        stop,
        ...(stopSequence !== undefined && { stopSequence }),
      };
    },
    end(call, ending, atMs) {
      if (call.ending !== 'open') return;
      call.ending = ending;
      call.endedAtMs = atMs;
      write(call);
    },
    list: () => [...calls.values()],
    get: (id) => calls.get(id),
    clear() {
      calls.clear();
      bodiesBytes = 0;
      oldestBodyId = lastId + 1;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

const credentialHeaders = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'proxy-authorization', 'cookie']);

/**
 * A storable copy of request headers: credentials become digests, which identify the credential without containing it.
 */
export function redactHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const redacted: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) redacted[name] = credentialHeaders.has(name) ? digestCredential(value) : value;
  }
  return redacted;
}

/**
 * `Bearer sha256:…` or `sha256:…`: the digest is of the bare credential, so that it does not depend on the place of the
 * credential.
 */
function digestCredential(value: string): string {
  const scheme = /^(?:bearer|basic) +/i.exec(value)?.[0] ?? '';
  return `${scheme}sha256:${hash('sha256', value.slice(scheme.length)).slice(0, 16)}`;
}

/** A path with the values of `key` and `access_token` in its query replaced by digests. */
export function redactPath(path: string): string {
  if (!path.includes('?')) return path;
  return path.replaceAll(
    /([?&](?:key|access_token)=)([^&]*)/g,
    (_, name: string, value: string) => name + digestCredential(decodeLoosely(value)),
  );
}

function decodeLoosely(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A value that is not URL-encoded is digested unchanged.
    return value;
  }
}
