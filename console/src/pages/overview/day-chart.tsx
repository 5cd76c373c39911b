import { useNavigate } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useZone } from '../../components/use-page.ts';
import { exactMoney, nanosOf, showChartMoney } from '../../format/money.ts';
import { showCount } from '../../format/numbers.ts';
import { clockTick, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { InlineSelect } from '../../ui/field.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';

type Day = Reply<'overview.get'>['last_day'];
type Hours = Day['before'];

const showNumber = (value: bigint): string => showCount(Number(value));
const counted = (values: readonly number[]): readonly bigint[] => values.map(BigInt);

/** What the chart can show, by the word of the address. */
const measures = {
  spend: { text: 'Spend', of: ({ amounts }: Hours) => amounts.map(nanosOf), show: showChartMoney, whole: exactMoney },
  calls: { text: 'Calls', of: ({ calls }: Hours) => counted(calls), show: showNumber, whole: showNumber },
  tokens: { text: 'Tokens', of: ({ tokens }: Hours) => counted(tokens), show: showNumber, whole: showNumber },
} as const;

const add = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

/** The last day by model, hour by hour, with the day before as a line. */
export function DayChart({ day }: { readonly day: Day }) {
  const zone = useZone();
  const navigate = useNavigate();
  const [search, change] = useAddress();
  const wanted = one(search, 'by') ?? '';
  const by = Object.hasOwn(measures, wanted) ? (wanted as keyof typeof measures) : 'spend';
  const { text, of, show, whole } = measures[by];
  const series = day.series
    .map((line) => ({ name: line.model ?? undefined, label: line.model ?? 'Other', values: of(line) }))
    .filter(({ values }) => values.some((value) => value !== 0n));
  const starts = day.bucket_starts.map((start) => ({ ...clockTick(start, zone), full: showMinute(start, zone) }));
  const before = of(day.before);
  const title = `${text} by model, last 24 hours`;
  const pick = (index: number): void => {
    const from = day.bucket_starts[index];
    if (from !== undefined) void navigate({ to: paths.calls, search: { from, to: new Date(Date.parse(from) + 3_600_000).toISOString() } });
  };
  return (
    <Panel
      title={title}
      tools={
        <InlineSelect
          label="Measure"
          value={by}
          options={Object.entries(measures).map(([value, measure]) => ({ value, text: measure.text.toLowerCase() }))}
          onChange={(value) => change({ by: value === 'spend' ? undefined : value }, true)}
        />
      }
    >
      {series.length === 0 ? (
        <Empty title={by === 'spend' ? 'Nothing was spent in the last 24 hours.' : 'There were no calls in the last 24 hours.'}>
          Calls appear here a few seconds after they end.
        </Empty>
      ) : (
        <StackedBars
          title={title}
          sentence={`${whole(series.reduce((sum, { values }) => sum + add(values), 0n))} in all, ${whole(add(before))} the day before; most by ${series[0]?.label ?? ''}.`}
          series={series}
          starts={starts}
          unfinishedFrom={starts.length - 1}
          show={show}
          before={add(before) === 0n ? undefined : before}
          onPick={pick}
        />
      )}
    </Panel>
  );
}
