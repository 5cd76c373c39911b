/**
 * Used if the configuration sets no times. `weir gateway` runs behind a load balancer, which needs time to notice that
 * the gateway is not ready. A developer waits until `weir start` has ended.
 */
export const defaultDrainTimes = { gateway: { delayMs: 5000, graceMs: 300_000 }, start: { delayMs: 0, graceMs: 30_000 } } as const;
