/** Reads usage counts out of a vendor's report, tolerating whatever a server may send. */
export type CountReader = {
  /** The count, or undefined when it is absent or null. A malformed one is undefined too, and makes the report untrustworthy. */
  readonly read: (value: unknown) => number | undefined;
  readonly trustworthy: () => boolean;
};

/** More tokens than any call can have: a count beyond it is an upstream's mistake, and pricing it would overflow the books. */
const countMax = 10_000_000_000;

/** A reader for one report: it remembers whether any count was a string, negative, fractional or absurd. */
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
