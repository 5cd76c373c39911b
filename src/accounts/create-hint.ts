/**
 * The end of a secret, to recognise it in a list. The last four characters of a generated secret are checksum and
 * disclose nothing. Of a short chosen secret, four would be too many.
 */
export function createHint(secret: string): string {
  return secret.slice(secret.length < 16 ? -2 : -4);
}
