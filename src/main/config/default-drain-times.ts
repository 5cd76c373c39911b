/**
 * What holds where the configuration says nothing. A gateway of its own stands behind a balancer, which has to notice; the program with everything in it stands before a
 * developer, who waits.
 */
export const defaultDrainTimes = { gateway: { delayMs: 5000, graceMs: 300_000 }, start: { delayMs: 0, graceMs: 30_000 } } as const;
