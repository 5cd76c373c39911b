import type { Change } from '../../../audit/change-author.ts';
import type { KeySession, KeySignInWay } from './key-session.ts';

/** The store that sessions of keys need. Changes write their row of the audit log in the same transaction. */
export type KeySessionStore = {
  /** Removes sessions that are over, and the oldest of a key or token that has more than 50. */
  readonly openKeySession: (session: KeySession & { readonly tokenHash: string }, change: Change) => Promise<void>;
  /** Whether or not it still opens anything. */
  readonly findKeySession: (tokenHash: string) => Promise<KeySession | undefined>;
  /** Ends one session of a key or token, or all. Returns how many. */
  readonly endKeySessions: (
    ended: { readonly way: KeySignInWay; readonly holderId: string; readonly sessionId?: string },
    change: Change,
  ) => Promise<number>;
};
