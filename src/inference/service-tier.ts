/** A tier of service under the name that is the same everywhere. */
export type UsedTier = 'standard' | 'flex' | 'priority' | 'scale' | 'batch';

/** The words in which vendors tell the tier that a call used. */
const tiers = new Map<string, UsedTier>([
  ['standard', 'standard'],
  ['default', 'standard'],
  ['on_demand', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['scale', 'scale'],
  ['batch', 'batch'],
]);

/** Reads the tier that a reply says was used; undefined where it says none, or one that is not known. */
export function readUsedTier(word: string | undefined): UsedTier | undefined {
  return word === undefined ? undefined : tiers.get(word.toLowerCase());
}
