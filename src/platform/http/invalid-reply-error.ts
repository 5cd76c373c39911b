/** An upstream sent bytes that are not an HTTP/1.1 reply, or a reply whose end is ambiguous. */
export class InvalidReplyError extends Error {
  readonly code = 'INVALID_HTTP_REPLY';
  constructor(problem: string) {
    super(`the upstream's reply is not valid HTTP: ${problem}`);
    this.name = 'InvalidReplyError';
  }
}
