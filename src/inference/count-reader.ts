/** Reads usage counts from a vendor's report, and tolerates any value in it. */
export type CountReader = {
  /**
   * Returns the count. Undefined if it is absent, null or malformed; a malformed count makes the report untrustworthy.
   */
  readonly read: (value: unknown) => number | undefined;
  readonly trustworthy: () => boolean;
};

/**
 * More tokens than any call can have. A higher count is an upstream's mistake, and its price would overflow the books.
 */
const countMax = 10_000_000_000;

/** Creates a reader for one report. It remembers whether a count was a string, negative, fractional or too high. */
export function createCountReader(): CountReader {
  let trustworthy = true;
  return {
    read: (value) => {
      if (value === undefined || value === null) return undefined;
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= countMax) return value;
      trustworthy = false;
      return undefined;
    },
    trustworthy: () => trustworthy,
  };
}
