/** A NUL, or half a surrogate pair; whole pairs are found too, and then stay as they are. */
const unstorable = /[\0\ud800-\udfff]/;

/**
 * The text that a database can hold: half surrogate pairs and NUL characters, which UTF-8 and PostgreSQL do not have, become U+FFFD.
 * Model names come from clients unchanged; one odd name must not keep a whole batch of the ledger from being booked.
 */
export function toStorableText(text: string): string {
  if (!unstorable.test(text)) return text;
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
