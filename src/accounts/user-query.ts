import type { UserScope } from './people/principal.ts';
import type { User } from './api-key.ts';

/** Which users a list has. */
export type UserQuery = {
  /** The users that may be seen: all, or the names of some. */
  readonly users: UserScope;
  /** The whole name. */
  readonly name?: string;
  /** A part of the name, in whatever case. */
  readonly text?: string;
  readonly teamName?: string;
  /** The list begins after this user. */
  readonly after?: { readonly createdAtMs: number; readonly id: string };
  /** The most users to return, at least 1. */
  readonly limit: number;
};

type Users = { readonly queryUsers: (query: UserQuery) => Promise<readonly User[]> };

/** A user of this name, if it may be seen. */
export async function findUserNamed(store: Users, users: UserScope, name: string): Promise<User | undefined> {
  const [user] = await store.queryUsers({ users, name: name.normalize('NFC'), limit: 1 });
  return user;
}
