import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { Amount } from '../../components/amount.tsx';
import { useAddress } from '../../components/use-page.ts';
import { columnDigits, nanosOf, shareOf, showChangeOrNew } from '../../format/money.ts';
import { showCount, showShare } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Button } from '../../ui/button.tsx';
import { canLeaveOut, leaveOut, narrowTo } from './leave-out.ts';
import { type MetricName, metrics, type UsageSums } from './usage-question.ts';
import styles from './usage-page.module.css';

type Answer = Reply<'usage.query'>;
type Row = {
  readonly kind: 'group' | 'other' | 'total';
  readonly names: readonly string[];
  readonly sums: UsageSums;
  readonly before: UsageSums | undefined;
};
type Props = { readonly answer: Answer; readonly groups: readonly string[]; readonly metric: MetricName };

/** The filter of the list of calls that shows the calls of a group. */
const callFilterOf: Readonly<Record<string, string>> = {
  user: 'user',
  key: 'key_id',
  model: 'model',
  team: 'team',
  upstream: 'upstream',
  interface: 'interface',
  end: 'end',
};

/** The sums of each group. Groups, other and total add up exactly. */
export function UsageTable({ answer, groups, metric }: Props) {
  const { series, other, totals, comparison } = answer;
  const key = (names: readonly string[]): string => JSON.stringify(names);
  const before = new Map(comparison?.series.map(({ names, total }) => [key(names), total]));
  const rows: readonly Row[] = [
    ...series.map(({ names, total }): Row => ({ kind: 'group', names, sums: total, before: before.get(key(names)) })),
    ...(other === null || other.total.calls === 0
      ? []
      : [{ kind: 'other', names: ['Other'], sums: other.total, before: undefined } as const]),
  ];
  const total: Row = { kind: 'total', names: ['Total'], sums: totals.total, before: comparison?.totals.total };
  return (
    <DataTable
      caption="Sums by group"
      columns={useColumns(groups, metric, rows, totals.total, comparison !== null)}
      rows={rows}
      keyOf={({ kind, names }) => `${kind} ${key(names)}`}
      totals={total}
    />
  );
}

/** Two buttons at each group: only it, or without it. */
function narrowColumn(
  groups: readonly string[],
  exclude: (names: readonly string[]) => void,
  change: (changed: Readonly<Record<string, string>>) => void,
): Column<Row> {
  return {
    id: 'narrow',
    title: <span className="visually-hidden">Narrow</span>,
    priority: 2,
    render: ({ kind, names }) => {
      if (kind !== 'group' || !canLeaveOut(groups, names)) return null;
      const text = names.join(' › ');
      return (
        <span className={styles['narrow']}>
          <Button kind="quiet" icon="filter" label={`Only ${text}`} onClick={() => change(narrowTo(groups, names))} />
          <Button kind="quiet" icon="minus" label={`Without ${text}`} onClick={() => exclude(names)} />
        </span>
      );
    },
  };
}

/** `Model › key` */
function titleOf(groups: readonly string[]): string {
  const text = groups.map((name) => name.replaceAll('_', ' ')).join(' › ');
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}

function useColumns(
  groups: readonly string[],
  metric: MetricName,
  rows: readonly Row[],
  whole: UsageSums,
  isCompared: boolean,
): readonly Column<Row>[] {
  const [search, change] = useAddress();
  const exclude = (names: readonly string[]): void => change(leaveOut(search, groups, names));
  const digits = columnDigits(rows.map(({ sums }) => nanosOf(sums.amount)));
  const { of } = metrics[metric];
  return [
    {
      id: 'names',
      title: titleOf(groups),
      grows: true,
      render: ({ kind, names }) => {
        const text = names.map((name) => (name === '' ? '(none)' : name)).join(' › ');
        const filter = Object.fromEntries(
          groups.flatMap((name, index) => (callFilterOf[name] === undefined ? [] : [[callFilterOf[name], names[index]]])),
        );
        // A key has two names here and no id, so that its user's keys are shown.
        if (kind === 'group' && groups[0] === 'key')
          return (
            <Link to={paths.keys} search={{ user: names[0] ?? '' }}>
              {text}
            </Link>
          );
        if (kind !== 'group' || groups.includes('key') || names.includes('') || Object.keys(filter).length < groups.length) return text;
        const { r, from, to, tz } = search;
        return (
          <Link
            to={paths.calls}
            search={{ r: r ?? '30d', from, to, tz, ...filter }}
            title={`The calls of ${text}. With Alt or Shift: without them.`}
            onClick={(event) => {
              if (!event.altKey && !event.shiftKey) return;
              event.preventDefault();
              exclude(names);
            }}
          >
            {text}
          </Link>
        );
      },
    },
    narrowColumn(groups, exclude, change),
    { id: 'calls', title: 'Calls', figures: true, render: ({ sums }) => showCount(sums.calls) },
    { id: 'in', title: 'Tokens in', figures: true, priority: 3, render: ({ sums }) => showCount(sums.tokens_in) },
    { id: 'out', title: 'Tokens out', figures: true, priority: 3, render: ({ sums }) => showCount(sums.tokens_out) },
    {
      id: 'cached',
      title: 'Read from cache',
      figures: true,
      priority: 3,
      render: ({ sums }) => (sums.tokens_in === 0 ? '—' : showShare(Math.min(1, sums.cache_read / sums.tokens_in))),
    },
    { id: 'share', title: 'Share', figures: true, priority: 2, render: ({ sums }) => showShare(shareOf(of(sums), of(whole))) },
    { id: 'amount', title: 'Spend', figures: true, render: ({ sums }) => <Amount money={sums.amount} digits={digits} /> },
    ...(isCompared
      ? [
          {
            id: 'change',
            title: 'vs before',
            figures: true,
            render: ({ sums, before }: Row) => (before === undefined ? '—' : showChangeOrNew(of(sums), of(before))),
          },
        ]
      : []),
  ];
}
