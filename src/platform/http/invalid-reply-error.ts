/** An upstream sent bytes that are no HTTP/1.1 reply, or one whose end could be read in two ways. */
export class InvalidReplyError extends Error {
  readonly code = 'INVALID_HTTP_REPLY';
  constructor(problem: string) {
    super(`the upstream's reply is not valid HTTP: ${problem}`);
    this.name = 'InvalidReplyError';
  }
}
