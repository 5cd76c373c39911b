import type { Change } from '../../audit/change-author.ts';
import type { Person } from './person.ts';
import type { FoundSession, Session } from './session.ts';

/** The change of a sign-in: its author is the person who signs in, whom only the store can name. */
export type SignInChange = Omit<Change, 'actor'>;

/** A session to open. Without a person, the sign-in code names one. */
export type SessionOpening = {
  readonly session: Omit<Session, 'personId'>;
  readonly tokenHash: string;
  readonly by: { readonly personId: string } | { readonly codeHash: string };
  /** Sessions that were last used before this time are over and are removed. */
  readonly idleBeforeMs: number;
};

/** A new token for a session. */
type TokenReplacement = {
  readonly sessionId: string;
  readonly tokenHash: string;
  readonly tokenSinceMs: number;
  /** The replaced token opens the session until then. */
  readonly previousUntilMs: number;
  /** If set, nothing happens unless this is the present token: of several requests at once, one gets a new token. */
  readonly presentHash?: string;
};

/**
 * The store that sessions need. Every method is one transaction, which also writes the row of the audit log if it has a
 * `Change`. Only hashes of tokens and codes are stored.
 */
export type SessionStore = {
  /** False if there is no such person or the person is disabled. Removes codes that have expired. */
  readonly insertSignInCode: (
    code: { readonly hash: string; readonly personId: string; readonly createdAtMs: number; readonly expiresAtMs: number },
    change: Change,
  ) => Promise<boolean>;
  /**
   * Opens a session and uses up its code. Undefined if the person does not exist or is disabled, or the code does not
   * exist or has expired. Removes sessions that are over, and the oldest of a person who has more than 50.
   */
  readonly openSession: (opening: SessionOpening, change: SignInChange) => Promise<Person | undefined>;
  /** Finds a session by the hash of its present or previous token, whether or not they still open it. */
  readonly findSession: (tokenHash: string) => Promise<FoundSession | undefined>;
  /** False if there is no such session, or `presentHash` is not its token any more. */
  readonly replaceSessionToken: (replacement: TokenReplacement) => Promise<boolean>;
  /**
   * Notes that the person of a session has signed in again. With a code, the code must be the person's, and is used up.
   * False if there is no such session or code.
   */
  readonly confirmSession: (
    confirmation: { readonly sessionId: string; readonly signedInAtMs: number; readonly codeHash?: string },
    change: Change,
  ) => Promise<boolean>;
  /** A time before the recorded one changes nothing. */
  readonly noteSessionUse: (use: { readonly sessionId: string; readonly usedAtMs: number }) => Promise<void>;
  /** Sessions of a person, newest first. Some may be over. */
  readonly listSessions: (personId: string) => Promise<readonly Session[]>;
  /** Ends one session of a person, or all but one, or all. Returns how many. */
  readonly endSessions: (
    ended: { readonly personId: string; readonly sessionId?: string; readonly exceptSessionId?: string },
    change: Change,
  ) => Promise<number>;
};
