import type { StatisticsDays } from '../../billing/statistics/statistics-store.ts';
import type { Logger } from '../../platform/log.ts';

/** Sees to it that sums of days are kept in the zone that statistics are asked in. Nobody waits for it: without, statistics of long spans are the same and slower. */
export function keepStatisticsDays(store: StatisticsDays, timeZone: string, logger: Logger): void {
  store.sumDaysOf(timeZone).then(
    (changed) => {
      if (changed) logger.info({ timeZone }, 'statistics time zone changed');
    },
    (error: unknown) => logger.warn({ err: error, timeZone }, 'statistics time zone change failed'),
  );
}
