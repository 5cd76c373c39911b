/** The value if it is the status of an HTTP error: servers put it into the `code` of the errors that they send with a 200. */
export const errorStatusOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : undefined;
