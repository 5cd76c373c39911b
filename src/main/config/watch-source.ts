import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { SourceWatch } from '../../upstreams/credentials/credential-source.ts';

/**
 * Logs that the credential of some upstreams cannot be renewed, while the last one is still good, and that there is
 * none.
 */
export function watchSource(
  upstreams: () => readonly { readonly id: string }[],
  { clock, logger }: { readonly clock: Pick<Clock, 'nowMs'>; readonly logger: Pick<Logger, 'info' | 'warn' | 'error'> },
): SourceWatch {
  const names = (): readonly string[] => [...new Set(upstreams().map(({ id }) => id))];
  return {
    failed: (reason, { expiresAtMs, fetchedAtMs }) => {
      const isGone = fetchedAtMs === undefined || (expiresAtMs !== undefined && expiresAtMs <= clock.nowMs());
      const endsAt = expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString();
      if (isGone) logger.error({ upstreams: names(), reason }, 'fetching a credential failed');
      else logger.warn({ upstreams: names(), reason, endsAt }, 'renewing a credential failed');
    },
    recovered: () => logger.info({ upstreams: names() }, 'credential fetched after a failure'),
  };
}
