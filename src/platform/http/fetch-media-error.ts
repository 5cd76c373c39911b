/**
 * `invalid-url`: this URL is never fetched. `forbidden-host`: its host has no allowed address. `unreachable`: no
 * connection, or it failed. `refused`: the server did not send the file. `too-large`, `timeout`: a limit was exceeded.
 * `wrong-type`: the file is not for models. `unwanted`: `isWanted` refused the URL.
 */
export type FetchMediaProblem =
  | 'invalid-url'
  | 'forbidden-host'
  | 'unreachable'
  | 'refused'
  | 'too-large'
  | 'timeout'
  | 'wrong-type'
  | 'unwanted';

/** Why media could not be fetched. The message is for the client; it reveals nothing about the gateway's network. */
export class FetchMediaError extends Error {
  readonly problem: FetchMediaProblem;

  constructor(problem: FetchMediaProblem, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'FetchMediaError';
    this.problem = problem;
  }
}
