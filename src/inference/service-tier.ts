/** A service tier, under one name for all vendors. */
export type UsedTier = 'standard' | 'flex' | 'priority' | 'scale' | 'batch';

/** The names of vendors for the tier of a call. */
const tiers = new Map<string, UsedTier>([
  ['standard', 'standard'],
  ['default', 'standard'],
  ['on_demand', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['scale', 'scale'],
  ['batch', 'batch'],
]);

/** Reads the tier in a reply. Undefined if the reply names none, or an unknown one. */
export function readUsedTier(word: string | undefined): UsedTier | undefined {
  return word === undefined ? undefined : tiers.get(word.toLowerCase());
}
