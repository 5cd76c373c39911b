/**
 * Why a store could not do what it was asked.
 * `busy`: another process kept the database locked for longer than the limit; a retry makes sense.
 * `unavailable`: the store is closed, died, is overloaded or did not answer in time; it is unknown whether the work was done.
 * `disk`: reading or writing failed, or the disk is full. `corrupt`: the file is damaged or is no database of ours.
 * `read-only`: a store opened for queries was asked to write. `constraint`: the database refused a row that the caller should not have sent.
 * `entry-out-of-range`: a ledger entry holds a value that cannot be booked (see `callIds`); sending it again will fail again.
 * `too-new`: the database was written by a newer program. `internal`: a defect of the store.
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
  | 'internal';

const passingKinds: ReadonlySet<StoreErrorKind> = new Set(['busy', 'unavailable', 'disk']);

/** What every store rejects with. Its message holds no stored values beyond ids, so that it may be logged. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;
  /** The entries at fault when the kind is `entry-out-of-range`. Nothing of the batch was booked; the others may be sent again without them. */
  readonly callIds: readonly string[];
  /** Whether the same may succeed later: see `isTransientFailure`. */
  readonly isTransient: boolean;

  constructor(kind: StoreErrorKind, message: string, options: { readonly callIds?: readonly string[]; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StoreError';
    this.kind = kind;
    this.isTransient = passingKinds.has(kind);
    this.callIds = options.callIds ?? [];
  }
}
