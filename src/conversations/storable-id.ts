/** Our own ids are much shorter. */
const charactersMax = 256;

/**
 * Whether an object can be stored under the id: databases do not preserve NUL or half a surrogate pair. Ids come from
 * the paths of clients; an invalid one counts as unknown.
 */
export function isStorableId(id: string): boolean {
  return id !== '' && id.length <= charactersMax && !id.includes('\0') && id.isWellFormed();
}

/** Throws RangeError for an id under which no object can be stored. */
export function requireStorableId(id: string): void {
  if (!isStorableId(id)) throw new RangeError(`An id must have 1 to ${charactersMax} characters without NUL or half surrogate pairs.`);
}
