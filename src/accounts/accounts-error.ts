/**
 * `invalid_name`, `invalid_secret`: what was given breaks the rules that the message states. `duplicate_name`: the name is taken.
 * `invalid_limit`, `invalid_expiry`: a limit has no such value, a token cannot expire then. `secret_in_use`: the secret opens another key or token. `conflict`: other processes change the same key at this moment; a retry makes sense.
 */
export type AccountsErrorCode =
  | 'invalid_name'
  | 'invalid_secret'
  | 'invalid_limit'
  | 'invalid_expiry'
  | 'duplicate_name'
  | 'secret_in_use'
  | 'conflict';

/** What an operator did wrong. The message is meant for them and holds no secret. */
export class AccountsError extends Error {
  readonly code: AccountsErrorCode;

  constructor(code: AccountsErrorCode, message: string) {
    super(message);
    this.name = 'AccountsError';
    this.code = code;
  }
}
