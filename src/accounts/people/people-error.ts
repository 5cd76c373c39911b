/**
 * `weak_password`, `unknown_permission`, `unknown_user`, `invalid_expiry`, `invalid_email`: the value breaks a rule
 * that the message states. `duplicate_name`: the name is in use. `last_operator`: nobody could administer Weir
 * afterwards. `not_permitted`: the maker of a token lacks a permission for it. `password_needed`: the person must set a
 * password first. `signs_in_elsewhere`: the person has no password because an OIDC provider knows it. `stale`: somebody
 * changed it meanwhile. `busy`: too many passwords are being checked.
 */
export type PeopleErrorCode =
  | 'weak_password'
  | 'unknown_permission'
  | 'unknown_user'
  | 'invalid_expiry'
  | 'invalid_email'
  | 'duplicate_name'
  | 'last_operator'
  | 'not_permitted'
  | 'password_needed'
  | 'signs_in_elsewhere'
  | 'stale'
  | 'busy';

/** A mistake in administering people or tokens. The message is written for its reader and contains no secret. */
export class PeopleError extends Error {
  readonly code: PeopleErrorCode;

  constructor(code: PeopleErrorCode, message: string) {
    super(message);
    this.name = 'PeopleError';
    this.code = code;
  }
}
