import { AccountsError } from './accounts-error.ts';
import { chosenSecretCharactersMin, secretCharactersMax } from './secret-limits.ts';

const secretPattern = new RegExp(`^[\\x21-\\x7e]{${chosenSecretCharactersMin},${secretCharactersMax}}$`);

/**
 * Checks a secret that an operator chose, and returns it. Throws AccountsError `invalid_secret`, whose message never
 * contains it.
 */
export function parseChosenSecret(secret: string): string {
  if (!secretPattern.test(secret)) {
    throw new AccountsError(
      'invalid_secret',
      `A secret must be ${chosenSecretCharactersMin} to ${secretCharactersMax} printable ASCII characters without spaces.`,
    );
  }
  return secret;
}
