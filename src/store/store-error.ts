/**
 * Why a store failed. `busy`: another process kept the database locked for longer than the limit; a retry can succeed.
 * `unavailable`: the store is closed, died, is overloaded or did not answer in time; it is unknown whether the work was
 * done. `disk`: reading or writing failed, or the disk is full. `corrupt`: the file is damaged or is not a database of
 * ours. `read-only`: a store that was opened for queries was asked to write. `constraint`: the database refused a row
 * that the caller should not have sent. `entry-out-of-range`: a ledger entry has a value that cannot be booked (see
 * `callIds`); a retry fails again. `too-new`: the database was written by a newer program. `internal`: a bug of the
 * store. `version-mismatch`: somebody else has changed the object since the author of a change saw it.
 */
export type StoreErrorKind =
  | 'busy'
  | 'unavailable'
  | 'disk'
  | 'corrupt'
  | 'read-only'
  | 'constraint'
  | 'entry-out-of-range'
  | 'too-new'
  | 'internal'
  | 'version-mismatch';

const passingKinds: ReadonlySet<StoreErrorKind> = new Set(['busy', 'unavailable', 'disk']);

/** The error of every store. Its message contains no stored values except ids, so that it may be logged. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;
  /**
   * With `entry-out-of-range`: the entries at fault. Nothing of the batch was booked; the other entries can be sent
   * again.
   */
  readonly callIds: readonly string[];
  /** Whether a retry can succeed later: see `isTransientFailure`. */
  readonly isTransient: boolean;

  constructor(kind: StoreErrorKind, message: string, options: { readonly callIds?: readonly string[]; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StoreError';
    this.kind = kind;
    this.isTransient = passingKinds.has(kind);
    this.callIds = options.callIds ?? [];
  }
}
