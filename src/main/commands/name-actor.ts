import { userInfo } from 'node:os';

/** Who does what is written down: the account of the system that runs the command. */
export function nameActor(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return 'operator';
  }
}
