import type { CloudCredential } from './cloud-credential.ts';

/** The facts about a source, without the secret. */
export type SourceState = {
  /** Where the credential comes from, for operators: `environment`, `instance metadata`. Absent: none was found yet. */
  readonly origin?: string;
  /** Whom the credential stands for, if the service says so: a role, an account, a mail address. */
  readonly identity?: string;
  /** When it was fetched, in Unix milliseconds. */
  readonly fetchedAtMs?: number;
  /** When it ends, in Unix milliseconds. Absent: it does not end by itself. */
  readonly expiresAtMs?: number;
  /** The last attempt, if it failed. */
  readonly failure?: {
    readonly atMs: number;
    /** When the first of this row failed. */
    readonly sinceMs: number;
    readonly reason: string;
    readonly inARow: number;
  };
};

/** A credential that is renewed before it ends. All credentials of an account share one source. */
export type CredentialSource<Credential = CloudCredential> = {
  /**
   * The credential, synchronously while one is valid. Otherwise a promise: it waits for the running fetch, and rejects
   * with a CredentialError, or with the reason of the signal.
   */
  readonly current: (signal: AbortSignal) => Credential | Promise<Credential>;
  /** The vendor refused this credential. It is fetched again at once, unless another one has replaced it already. */
  readonly refused: (credential: Credential) => void;
  readonly describe: () => SourceState;
  /** Ends running fetches. */
  readonly close: () => Promise<void>;
};

/** Gets the failures to fetch a credential, for the log. */
export type SourceWatch = {
  /** A fetch failed for another reason than the one before, or the last good credential has ended meanwhile. */
  readonly failed: (reason: string, state: SourceState) => void;
  /** The first fetch after a failure succeeded. */
  readonly recovered: () => void;
};

/**
 * No credential could be had. The message is for the operator: the places that were searched, and the next
 * step. It has no secret in it.
 */
export class CredentialError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'CredentialError';
  }
}
