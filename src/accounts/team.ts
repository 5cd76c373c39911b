import type { AccessLimits } from './access-limits.ts';
import type { ContentMode } from './content-mode.ts';

/** A team of users. Its limits are shared by all keys of all its users. The name never changes. */
export type Team = {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly limits?: AccessLimits;
  /** How much of the content of its users' calls is recorded, unless their key says something else. Absent: nothing. */
  readonly content?: ContentMode;
};

/** The organization: every user of the database. Its limits are shared by all keys. */
export type Organization = { readonly limits?: AccessLimits };

/** The level that a limit belongs to, from the key upwards. A call must respect the limits of all levels. */
export type AccountLevel = 'key' | 'user' | 'team' | 'organization';
