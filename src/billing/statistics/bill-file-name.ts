import { formatBucketTime } from './format-bucket-time.ts';
import { granularityNames } from './granularity.ts';
import type { StatisticsRequest } from './statistics.ts';

/**
 * `bill_20260127_20260129_day.xlsx`, `calls_20260127_20260129.csv`: the dates of startTime and endTime by the clock of
 * the time zone.
 * @param what the content of the file: sums, or single calls
 */
export function billFileName(request: StatisticsRequest, timeZone: string, what: 'bill' | 'calls', extension: string): string {
  const date = (seconds: number): string => formatBucketTime(seconds, timeZone).slice(0, 10).replaceAll('-', '');
  const span = `${what}_${date(request.startSeconds)}_${date(request.endSeconds)}`;
  return what === 'calls' ? `${span}.${extension}` : `${span}_${granularityNames[request.granularity]}.${extension}`;
}
