/** Bucket sizes of the statistics, with the contract's numbers. */
export const granularityNames = { 1: 'minute', 2: 'hour', 3: 'day', 4: 'week', 5: 'month' } as const;

export type Granularity = keyof typeof granularityNames;
export type GranularityName = (typeof granularityNames)[Granularity];

export function isGranularity(value: number): value is Granularity {
  return Object.hasOwn(granularityNames, value);
}
