/** No database holds a NUL or half a surrogate pair unchanged, and no id of ours is nearly as long. */
const charactersMax = 256;

/** Whether anything can be stored under the id. Ids come from clients' paths: one that is none is unknown. */
export function isStorableId(id: string): boolean {
  return id !== '' && id.length <= charactersMax && !id.includes('\0') && id.isWellFormed();
}

/** Throws RangeError for an id that nothing can be stored under. */
export function requireStorableId(id: string): void {
  if (!isStorableId(id)) throw new RangeError(`An id has 1 to ${charactersMax} characters, none of them NUL or half of one.`);
}
