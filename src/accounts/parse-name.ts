import { AccountsError } from './accounts-error.ts';

const nameCharactersMax = 64;
const namePattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+-]*$/u;

/**
 * Checks the name of a user, key or billing token and returns it in Unicode's composed form, so that a name has one
 * spelling. Names have 1 to 64 characters: letters and digits of any script, space and `. _ - @ +`. They begin with a
 * letter or digit, so that no spreadsheet reads one as a formula, and do not end with a space. Case matters. Throws
 * AccountsError `invalid_name`.
 */
export function parseName(what: string, name: string): string {
  if (name === '') throw new AccountsError('invalid_name', `The ${what} is empty; give it 1 to ${nameCharactersMax} characters.`);
  // Composing shortens text to a quarter at most, so a much longer name need not be composed.
  const composed = name.length > 4 * nameCharactersMax ? undefined : name.normalize('NFC');
  if (composed === undefined || Array.from(composed).length > nameCharactersMax) {
    throw new AccountsError('invalid_name', `The ${what} is too long: at most ${nameCharactersMax} characters.`);
  }
  if (!namePattern.test(composed) || composed.endsWith(' ')) {
    throw new AccountsError(
      'invalid_name',
      `The ${what} may contain only letters, digits, spaces and . _ - @ +, must begin with a letter or digit, and must not end with a space.`,
    );
  }
  return composed;
}
