import type { RankedHealth } from './rank-targets.ts';

const healthy = { availability: () => ({ usable: true, state: 'healthy' }) as const, inFlight: () => 0 };

/** The health of targets of which nothing bad is known. */
export const alwaysHealthy: RankedHealth = { of: () => healthy };
