import type { Change } from '../audit/change-author.ts';
import type { UserScope } from './people/principal.ts';

/** A position in a list that begins with the newest: the row before the page. */
type ListPosition = { readonly createdAtMs: number; readonly id: string };

/** What every list over several users asks for. Times are Unix milliseconds, half-open. */
export type ScopedList = {
  /** The users whose rows may be seen: all, or the names of some. */
  readonly users: UserScope;
  readonly userName?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly after?: ListPosition;
  readonly limit: number;
};

/** The deletion of a user's object by an operator. It is in the audit log. */
export type OwnedRemoval = {
  readonly userName: string;
  readonly id: string;
  /** The version that the operator has seen. If there is another, the store rejects as `isVersionMismatch` says. */
  readonly version?: number;
  readonly change: Change;
};
