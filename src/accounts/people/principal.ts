import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { KeySignInWay } from './keys/key-session.ts';
import type { Permission } from './permissions.ts';

/**
 * The users whose calls, keys and money a principal may see: all, or the names of some. What belongs to others is
 * answered as if it did not exist.
 */
export type UserScope = 'all' | readonly string[];

/** The signed-in person, admin token, or local command on whose behalf an operation of the admin API runs. */
export type Principal = {
  readonly permissions: ReadonlySet<Permission>;
  readonly users: UserScope;
  /** As the audit log names it, with the address and the id of the request. */
  readonly author: ChangeAuthor;
  /**
   * The time of the last sign-in or confirmation, in Unix milliseconds; undefined for tokens. Local commands are always
   * recent.
   */
  readonly signedInAtMs?: number;
  /** The session of a cookie; undefined for tokens and local commands. */
  readonly sessionId?: string;
  /** The person of a session; undefined for tokens and local commands. */
  readonly personId?: string;
  /** The API key or billing token with which the session was opened; undefined for people. */
  readonly holder?: { readonly way: KeySignInWay; readonly id: string };
  /** The admin token; undefined for sessions and local commands. */
  readonly tokenId?: string;
  /** The person who made the admin token; undefined for sessions, local commands and the tokens that they make. */
  readonly makerId?: string;
};

/** Whether a user's data may be shown to the principal. */
export function maySee(users: UserScope, userName: string): boolean {
  return users === 'all' || users.includes(userName);
}
