import type { StatisticsDays } from '../../billing/statistics/statistics-store.ts';
import type { Logger } from '../../platform/log.ts';

/**
 * Ensures that sums of days exist in the configured time zone. It runs in the background: without the sums, statistics
 * of long spans are the same, but slower.
 */
export function keepStatisticsDays(store: StatisticsDays, timeZone: string, logger: Logger): void {
  store.sumDaysOf(timeZone).then(
    (changed) => {
      if (changed) logger.info({ timeZone }, 'statistics time zone changed');
    },
    (error: unknown) => logger.warn({ err: error, timeZone }, 'statistics time zone change failed'),
  );
}
