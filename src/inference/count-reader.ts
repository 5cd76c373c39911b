/** Reads usage counts out of a vendor's report, tolerating whatever a server may send. */
export type CountReader = {
  /** The count, or undefined when it is absent or null. A malformed one is undefined too, and makes the report untrustworthy. */
  readonly read: (value: unknown) => number | undefined;
  readonly trustworthy: () => boolean;
};

/** A reader for one report: it remembers whether any count was a string, negative, fractional or beyond what a double holds exactly. */
export function createCountReader(): CountReader {
  let trustworthy = true;
  return {
    read: (value) => {
      if (value === undefined || value === null) return undefined;
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
      trustworthy = false;
      return undefined;
    },
    trustworthy: () => trustworthy,
  };
}
