import type { Reply } from '../../api/client.ts';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { many } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { clockTick, dayTicks, showDay, showMinute } from '../../format/times.ts';
import { useKeys } from '../../ui/use-keys.ts';
import { accumulate, sharesOf, showMillionths } from './chart-views.ts';
import { canLeaveOut, leaveOut } from './leave-out.ts';
import { type MetricName, metrics, readView } from './usage-question.ts';

/** So many groups have a key. */
const shownByKey = 9;

type Answer = Reply<'usage.query'>;

type Props = {
  readonly answer: Answer;
  readonly groups: readonly string[];
  readonly metric: MetricName;
  readonly zone: string;
};

/**
 * The sums over time. A bar narrows the span to its time, and an entry of the legend leaves its group out. `1` to `9`
 * hide groups of the chart alone, and show them again.
 */
export function UsageChart({ answer, groups, metric, zone }: Props) {
  const [search, change] = useAddress();
  const { of, show, text } = metrics[metric];
  const { bucket_starts: starts, granularity, series, other, totals, comparison } = answer;
  const isShort = granularity === 'minute' || granularity === 'hour';
  const summed = [
    ...series.map(({ names, buckets }) => ({
      name: names.join(' › '),
      label: names.map((name) => (name === '' ? '(none)' : name)).join(' › '),
      values: buckets.map(of),
    })),
    ...(other === null || of(other.total) === 0n ? [] : [{ name: undefined, label: 'Other', values: other.buckets.map(of) }]),
  ];
  const namesOf = new Map(series.map(({ names }) => [names.join(' › '), names]));
  const view = readView(search);
  const hidden = many(search, 'hide');
  const toggle = (place: number): void => {
    const label = summed[place]?.label;
    if (label === undefined) return;
    const left = hidden.includes(label) ? hidden.filter((each) => each !== label) : [...hidden, label];
    change({ hide: left.length === 0 ? undefined : left }, true);
  };
  useKeys({
    ...Object.fromEntries(Array.from({ length: shownByKey }, (_, place) => [String(place + 1), () => toggle(place)])),
    d: () => change({ per: 'day' }),
    w: () => change({ per: 'week' }),
    m: () => change({ per: 'month' }),
  });
  if (starts.length < 2) return null;
  const shares = view === 'share' ? sharesOf(summed.map(({ values }) => values)) : [];
  const lines = summed.map((line, index) => ({
    ...line,
    values: view === 'cumulative' ? accumulate(line.values) : view === 'share' ? (shares[index] ?? []) : line.values,
  }));
  const before = comparison?.totals.buckets.map(of);
  const days = dayTicks(starts, zone);
  const now = Date.now();
  const unfinished = starts.findIndex((_start, index) => Date.parse(starts[index + 1] ?? answer.to) > now);
  return (
    <StackedBars
      title={
        {
          sums: `${text} per ${granularity}`,
          cumulative: `${text} until each ${granularity}`,
          share: `Shares of ${text} per ${granularity}`,
        }[view]
      }
      sentence={`${show(of(totals.total))} in all.`}
      series={lines}
      hidden={hidden}
      starts={starts.map((start, index) => ({
        ...(isShort ? clockTick(start, zone) : (days[index] ?? { tick: '' })),
        full: isShort ? showMinute(start, zone) : showDay(start, zone),
      }))}
      unfinishedFrom={unfinished === -1 ? undefined : unfinished}
      show={view === 'share' ? showMillionths : show}
      before={view === 'share' || before === undefined ? undefined : view === 'cumulative' ? accumulate(before) : before}
      height={260}
      brushes
      onPick={(first, last) => change({ from: starts[first], to: starts[last + 1] ?? answer.to, r: undefined })}
      {...(series.every(({ names }) => canLeaveOut(groups, names)) && {
        onLeaveOut: (name: string) => change(leaveOut(search, groups, namesOf.get(name) ?? [])),
      })}
    />
  );
}
