import type { Permission } from './permissions.ts';
import type { Person } from './person.ts';
import type { UserScope } from './principal.ts';

/** A credential of the admin API for programs. Its secret is `at-weir-<id>_<secret>_<check>`. */
export type AdminToken = {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  /** The last four characters of the secret, which are checksum. */
  readonly hint: string;
  /** Its permissions, as far as its maker still has them. */
  readonly permissions: readonly Permission[];
  readonly users: UserScope;
  /** The person who made it, directly or by another token; undefined for a local command. */
  readonly makerId?: string;
  readonly createdAtMs: number;
  /** It is refused from this moment on. */
  readonly expiresAtMs: number;
  /** Until this moment, the previous secret opens the token too. */
  readonly previousOpensUntilMs?: number;
  /** When it was last used, to about a minute. */
  readonly lastUsedAtMs?: number;
  /** Grows with each rotation. */
  readonly revision: number;
};

/** A token that was found by the hash of a secret. Whether the secret still opens it depends on the time. */
export type FoundAdminToken = {
  readonly token: AdminToken;
  /** Set if the secret is the previous one. */
  readonly byPreviousSecret?: true;
  /** The person of `makerId` as it is now. */
  readonly maker?: Person;
};
