/**
 * The most tags that lists and reports tell apart, because clients choose them: names, values of one name, and
 * different sets of tags. Calls with further values count under `otherTag`; tags with further names are only on
 * receipts and in the ledger.
 */
export const tagBounds = { names: 100, valuesOfName: 1000, sets: 20_000 } as const;

/** Stands for all values beyond the bound. No tag can have this value. */
export const otherTag = '(other)';
