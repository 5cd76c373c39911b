import { userInfo } from 'node:os';

/** The system account that runs the command. It is recorded as the author of postings, publications and decisions. */
export function nameActor(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without a name.
    return 'operator';
  }
}
