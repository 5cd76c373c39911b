/** A failure of something that the program works with, which says of itself whether it may pass: a database that is away, a disk that is full. */
export type PassingFailure = Error & { readonly mayPass: true };

/** Whether an error is one that may pass without anything being mended in the program: the same again may succeed. */
export function isPassingFailure(error: unknown): error is PassingFailure {
  return error instanceof Error && 'mayPass' in error && error.mayPass === true;
}
