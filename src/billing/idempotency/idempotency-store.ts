import type { StoredReplyBytes } from './reply-budget.ts';

/** Identifies a request: its API key, and a keyed hash of the client's idempotency key. */
export type KeyName = { readonly keyId: string; readonly key: string };

/** A request that is about to be served. */
export type KeyClaim = KeyName & {
  /** A keyed hash of everything that distinguishes requests. */
  readonly bodyHash: string;
  /** The id of the call, by which its receipt is found. */
  readonly requestId: string;
  /** The process that serves it. */
  readonly owner: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Until when other processes assume that this one is running. */
  readonly leaseUntilMs: number;
};

/**
 * The holder of a key. `open`: the request is running, or its process has died. `kept`: its answer is stored. `spent`:
 * it was served, and has no answer that could be repeated.
 */
export type KeyHolder = {
  readonly bodyHash: string;
  readonly requestId: string;
  readonly createdAtMs: number;
} & (
  | { readonly state: 'open'; readonly leaseUntilMs: number }
  | { readonly state: 'kept'; readonly head: Uint8Array; readonly chunks: number }
  | { readonly state: 'spent' }
);

/** A sealed part of the body of an answer. Parts are numbered from 0. */
export type ReplyChunk = { readonly sequence: number; readonly sealed: Uint8Array<ArrayBuffer> };

type Holder = KeyName & { readonly requestId: string };

/** The end of a request: with the sealed head of a stored answer and the number of its chunks, or without an answer. */
type KeyEnding = Holder & {
  readonly kept: { readonly head: Uint8Array<ArrayBuffer>; readonly chunks: number } | undefined;
  /** The last chunks: they become visible together with the end. */
  readonly last: readonly ReplyChunk[];
};

/**
 * Stores answers by idempotency key, for all processes of a gateway. Every method rejects if the database does not
 * answer.
 */
export type IdempotencyStore = {
  /**
   * Claims a key durably for the first process. Undefined: this process has it now; otherwise its holder. An expired
   * key has no holder.
   */
  readonly claimIdempotencyKey: (claim: KeyClaim) => Promise<KeyHolder | undefined>;
  /** Adds parts of a running answer. Does nothing unless the process holds the key. */
  readonly addReplyChunks: (holder: Holder, chunks: readonly ReplyChunk[]) => Promise<void>;
  /** False if the process does not hold the key. */
  readonly closeIdempotencyKey: (ending: KeyEnding) => Promise<boolean>;
  /** Releases a key whose request had no effect. */
  readonly releaseIdempotencyKey: (holder: Holder) => Promise<void>;
  /** Extends the leases of all keys that a process holds. */
  readonly renewIdempotencyKeys: (lease: { readonly owner: string; readonly untilMs: number }) => Promise<void>;
  readonly readReplyChunk: (holder: Holder, sequence: number) => Promise<Uint8Array | undefined>;
  /**
   * Ends the leases of dead processes: all whose name has the prefix, except one. Other processes no longer wait for
   * them.
   */
  readonly endIdempotencyLeases: (dead: { readonly ownerPrefix: string; readonly except: string }) => Promise<void>;
  /** The bytes of stored answers by API key; keys without answers are omitted. */
  readonly measureReplies: () => Promise<readonly StoredReplyBytes[]>;
  /** Deletes expired keys, and returns their number. */
  readonly sweepIdempotencyKeys: (pass: { readonly nowMs: number; readonly rowsMax: number }) => Promise<number>;
};
