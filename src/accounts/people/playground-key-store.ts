import type { Change } from '../../audit/change-author.ts';

/** A key that exists for one session, whose secret only the console opens. */
export type PlaygroundKey = {
  readonly keyId: string;
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The secret, sealed under the ids of the key and the session. */
  readonly sealed: Uint8Array;
};

/** A key as its session sees it. */
export type ListedPlaygroundKey = PlaygroundKey & { readonly name: string; readonly userName: string };

/**
 * The store of keys of the playground. A key ends with its session: the store deletes it in the transaction that ends
 * the session. All methods reject with the store's error.
 */
export type PlaygroundKeyStore = {
  /** Remembers the secret of a key. False if the session is over, or has `keysMax` such keys. */
  readonly insertPlaygroundKey: (key: PlaygroundKey, keysMax: number) => Promise<boolean>;
  /** The keys of a session that open the gateway now, newest first. */
  readonly listPlaygroundKeys: (sessionId: string, nowMs: number) => Promise<readonly ListedPlaygroundKey[]>;
  /** Deletes one key of a session. False if it has none of this id. */
  readonly endPlaygroundKey: (key: Pick<PlaygroundKey, 'keyId' | 'sessionId'>, change: Change) => Promise<boolean>;
  /** Deletes sessions that are over, and keys that have expired or whose session is over; returns how many keys. */
  readonly sweepPlaygroundKeys: (idleBeforeMs: number, change: Change) => Promise<number>;
};
