import list from './common-passwords.json' with { type: 'json' };

const common: ReadonlySet<string> = new Set(list.passwords);

/** Whether a password is among the commonest ones, in any case of its letters. The list's source is in its file. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.toLowerCase());
}
