/** Matches NUL and any surrogate; a complete pair is matched too, and stays unchanged. */
const unstorable = /[\0\ud800-\udfff]/;

/**
 * The text in a form that a database can store: lone surrogates and NUL characters, which UTF-8 or PostgreSQL cannot
 * store, become U+FFFD. Model names come from clients unchanged; one such name must not keep a whole batch of the
 * ledger from being booked.
 */
export function toStorableText(text: string): string {
  if (!unstorable.test(text)) return text;
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
