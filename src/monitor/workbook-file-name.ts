import { formatBucketTime } from '../billing/statistics/format-bucket-time.ts';
import { granularityNames } from '../billing/statistics/granularity.ts';
import type { StatisticsRequest } from '../billing/statistics/statistics.ts';

/** `bill_20260127_20260129_day.xlsx`: the dates of startTime and endTime by the clock of the time zone. */
export function workbookFileName(request: StatisticsRequest, timeZone: string): string {
  const date = (seconds: number): string => formatBucketTime(seconds, timeZone).slice(0, 10).replaceAll('-', '');
  return `bill_${date(request.startSeconds)}_${date(request.endSeconds)}_${granularityNames[request.granularity]}.xlsx`;
}
