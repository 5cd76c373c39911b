import { userInfo } from 'node:os';

import type { ChangeAuthor } from '../../audit/change-author.ts';

/** The system account that runs the command. It is recorded as the author of postings, publications and decisions. */
export function nameActor(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without a name.
    return 'operator';
  }
}

/** The author of the changes of a command, for the audit log. */
export const commandAuthor = (): ChangeAuthor => ({ actor: `cli:${nameActor()}`, via: 'cli' });
