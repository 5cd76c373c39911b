/** A failure of a dependency that knows whether it is transient: a database is unreachable, a disk is full. */
export type PassingFailure = Error & { readonly mayPass: true };

/** Whether an error is transient: a repetition may succeed without a change of the program. */
export function isPassingFailure(error: unknown): error is PassingFailure {
  return error instanceof Error && 'mayPass' in error && error.mayPass === true;
}
