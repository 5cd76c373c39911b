import { keepPreviousData, useQuery } from '@tanstack/react-query';

import type { Query, Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { useAddress, useZone } from '../../components/use-page.ts';
import { countOf, showCount } from '../../format/numbers.ts';
import { clockTick, dayTicks, showMinute, showShortDay, showTime } from '../../format/times.ts';
import styles from './calls-page.module.css';

type Histogram = Reply<'calls.histogram'>;
const dayMs = 86_400_000;

/** How many calls there were over the span, and how they ended. A bar narrows the span to its time. */
export function CallHistogram({ query }: { readonly query: Query<'calls.histogram'> }) {
  const zone = useZone();
  const [, change] = useAddress();
  const { data } = useQuery({ ...question('calls.histogram', { query }), placeholderData: keepPreviousData });
  if (data === undefined) return <div className={styles['histogram']} />;
  if (data.items.length === 0) return null;
  const starts = bucketStarts(data, query.from, query.to);
  const byStart = new Map(data.items.map(({ start, ends }) => [Date.parse(start), ends]));
  const count = (names: readonly (keyof Histogram['items'][number]['ends'])[]): readonly bigint[] =>
    starts.map((start) => BigInt(names.reduce((sum, name) => sum + (byStart.get(start)?.[name] ?? 0), 0)));
  const series = [
    { name: 'finished', label: 'finished', colour: 'var(--series-1)', values: count(['finished', 'client-left']) },
    { name: 'failed', label: 'failed or cut', colour: 'var(--bad)', values: count(['failed', 'cut', 'lost']) },
  ];
  const total = series.reduce((sum, { values }) => values.reduce((inner, value) => inner + value, sum), 0n);
  const isLong = Date.parse(query.to) - Date.parse(query.from) > 3 * dayMs;
  const days = dayTicks(starts, zone);
  const tick = (start: number, index: number) => {
    if (data.bucket_ms >= dayMs) return days[index] ?? { tick: '' };
    const clock = clockTick(start, zone);
    return isLong && clock.minute === 0 ? { ...clock, tick: showShortDay(start, zone) } : clock;
  };
  // A count of very many calls does not reach the beginning of a long span.
  const unknown = starts.findIndex((start) => start >= Date.parse(data.searched_to));
  const isPart = Date.parse(data.searched_to) > Date.parse(query.from);
  const picture = (
    <StackedBars
      title="Calls over time"
      sentence={`${countOf(Number(total), 'call')}${isPart ? ` since ${showMinute(data.searched_to, zone)}` : ''}.`}
      unknownBefore={isPart ? unknown : undefined}
      height={110}
      series={series}
      starts={starts.map((start, index) => ({ ...tick(start, index), full: showTime(start, zone) }))}
      show={(value) => showCount(Number(value))}
      brushes
      onPick={(first, last) => {
        const [from, until] = [starts[first], starts[last]];
        if (from === undefined || until === undefined) return;
        change({ from: new Date(from).toISOString(), to: new Date(until + data.bucket_ms).toISOString(), r: undefined });
      }}
    />
  );
  if (!isPart) return picture;
  return (
    <div>
      {picture}
      <p className={styles['counted']}>
        The chart counts back to {showMinute(data.searched_to, zone)}. For the time before, choose a shorter span.
      </p>
    </div>
  );
}

/** All buckets of the span: those without calls are not in the answer. */
function bucketStarts({ bucket_ms: size, items }: Histogram, from: string, to: string): readonly number[] {
  const anchor = Date.parse(items[0]?.start ?? from);
  const first = anchor - Math.ceil((anchor - Date.parse(from)) / size) * size;
  const starts: number[] = [];
  for (let start = first; start < Date.parse(to); start += size) starts.push(start);
  return starts;
}
