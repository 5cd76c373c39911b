/**
 * `invalid-url`: the address is not one that is fetched. `forbidden-host`: its host has no address that is allowed. `unreachable`: no connection, or it
 * broke. `refused`: the server did not give the file. `too-large`, `timeout`: a limit was passed. `wrong-type`: it is nothing for a model. `unwanted`: it leads to where the
 * caller does not want to go.
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

/** Why media could not be fetched. The message is meant for the client; it says nothing about the network that the gateway stands in. */
export class FetchMediaError extends Error {
  readonly problem: FetchMediaProblem;

  constructor(problem: FetchMediaProblem, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'FetchMediaError';
    this.problem = problem;
  }
}
