/** A failure of a dependency that knows whether it is transient: a database is unreachable, a disk is full. */
export type TransientFailure = Error & { readonly isTransient: true };

/** Whether an error is transient: a repetition may succeed without a change of the program. */
export function isTransientFailure(error: unknown): error is TransientFailure {
  return error instanceof Error && 'isTransient' in error && error.isTransient === true;
}
