import type { Health, TargetHealth } from '../health/health.ts';

/** What routing and retries ask of the health of targets. */
export type KnownHealth = {
  readonly of: (
    subject: Parameters<Health['of']>[0],
  ) => Pick<TargetHealth, 'availability' | 'inFlight'> & Partial<Pick<TargetHealth, 'lastSentMs' | 'isWorthRetry'>>;
};

const healthy = { availability: () => ({ usable: true, state: 'healthy' }) as const, inFlight: () => 0 };

/** The health of targets of which nothing bad is known. */
export const alwaysHealthy: KnownHealth = { of: () => healthy };
