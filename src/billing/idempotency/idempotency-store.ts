import type { StoredReplyBytes } from './reply-budget.ts';

/** What a request is known by: the API key that sent it, and what stands for the name that its client gave it. */
export type KeyName = { readonly keyId: string; readonly key: string };

/** A request that is about to be served. */
export type KeyClaim = KeyName & {
  /** What tells requests apart that differ in anything that matters. */
  readonly bodyHash: string;
  /** The id of the call, by which its receipt is found. */
  readonly requestId: string;
  /** The process that serves it. */
  readonly owner: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Until when others take it that its process lives. */
  readonly leaseUntilMs: number;
};

/**
 * Who has a key. `open`: the request is under way, or its process has died. `kept`: it was answered, and the answer is there. `spent`: it was served, and there is no answer
 * that could be given again.
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

/** A part of an answer's body, sealed. They are numbered from 0. */
export type ReplyChunk = { readonly sequence: number; readonly sealed: Uint8Array<ArrayBuffer> };

type Holder = KeyName & { readonly requestId: string };

/** How a request ended: with the sealed head of an answer that can be given again, and the number of its chunks; or without one. */
type KeyEnding = Holder & {
  readonly kept: { readonly head: Uint8Array<ArrayBuffer>; readonly chunks: number } | undefined;
  /** The last of its chunks: they become visible together with the end. */
  readonly last: readonly ReplyChunk[];
};

/** The answers that are kept under idempotency keys, for all processes of a gateway. Every method rejects when the database cannot be asked. */
export type IdempotencyStore = {
  /** Takes a key, durably, for whoever comes first. Undefined: it is taken now; else who has it. What has expired has no key any more. */
  readonly claimIdempotencyKey: (claim: KeyClaim) => Promise<KeyHolder | undefined>;
  /** Adds parts of the answer to come. Nothing is added for who does not hold the key. */
  readonly addReplyChunks: (holder: Holder, chunks: readonly ReplyChunk[]) => Promise<void>;
  /** False when somebody else has the key, or nobody. */
  readonly closeIdempotencyKey: (ending: KeyEnding) => Promise<boolean>;
  /** Gives a key back under which nothing was done. */
  readonly releaseIdempotencyKey: (holder: Holder) => Promise<void>;
  /** Says that a process lives: for all keys that it holds. */
  readonly renewIdempotencyKeys: (lease: { readonly owner: string; readonly untilMs: number }) => Promise<void>;
  readonly readReplyChunk: (holder: Holder, sequence: number) => Promise<Uint8Array | undefined>;
  /** Says that processes have died: all whose name begins so, but for this one. What they held is not waited for any more. */
  readonly endIdempotencyLeases: (dead: { readonly ownerPrefix: string; readonly except: string }) => Promise<void>;
  /** The bytes of answers that are kept, by API key; none of those that have none. */
  readonly measureReplies: () => Promise<readonly StoredReplyBytes[]>;
  /** Deletes keys that have expired, and returns how many. */
  readonly sweepIdempotencyKeys: (pass: { readonly nowMs: number; readonly rowsMax: number }) => Promise<number>;
};
