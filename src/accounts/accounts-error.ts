/**
 * `invalid_name`, `invalid_secret`, `invalid_limit`, `invalid_expiry`, `invalid_overlap`, `invalid_tags`: the value
 * breaks a rule that the message states. `no_secret`: tokens of an issuer open the key, so it has no secret.
 * `duplicate_name`: the name is in use. `unknown_name`: there is no such user or team. `team_in_use`: users are in the
 * team. `secret_in_use`: the secret belongs to another key or token. `conflict`: other processes change the same key at
 * this moment, and a retry can succeed.
 */
export type AccountsErrorCode =
  | 'invalid_name'
  | 'invalid_secret'
  | 'invalid_limit'
  | 'invalid_expiry'
  | 'invalid_overlap'
  | 'invalid_tags'
  | 'no_secret'
  | 'duplicate_name'
  | 'unknown_name'
  | 'team_in_use'
  | 'secret_in_use'
  | 'conflict';

/** A mistake of an operator. The message is written for the operator and contains no secret. */
export class AccountsError extends Error {
  readonly code: AccountsErrorCode;

  constructor(code: AccountsErrorCode, message: string) {
    super(message);
    this.name = 'AccountsError';
    this.code = code;
  }
}
