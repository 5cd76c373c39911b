/**
 * `unavailable`: the provider does not answer, or not as the specification says. `expired`: the sign-in took longer
 * than ten minutes, or was begun in another browser. `denied`: the person or the provider refused it. `invalid`: the
 * answer is not one that this provider signed for this sign-in.
 */
export type OidcErrorCode = 'unavailable' | 'expired' | 'denied' | 'invalid';

/** A sign-in at a provider that failed. The message is for the log; it has no token and no code. */
export class OidcError extends Error {
  readonly code: OidcErrorCode;

  constructor(code: OidcErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OidcError';
    this.code = code;
  }
}
