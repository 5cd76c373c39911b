import { Link } from '@tanstack/react-router';

import { Amount } from '../../components/amount.tsx';
import { columnDigits, shareOf, showChangeOrNew } from '../../format/money.ts';
import { showCount } from '../../format/numbers.ts';
import { saveText, writeCsv } from '../../format/csv.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice } from '../../ui/notice.tsx';
import { plainUsd, type Staged, type StagedGroup } from './staged-groups.ts';
import styles from './prices-page.module.css';

type Props = { readonly staged: Staged; readonly by: string; readonly days: number; readonly until: string };

const dayMs = 86_400_000;

/** Who pays what: booked, by the prices in force, and by the draft. */
export function StagedTable({ staged, by, days, until }: Props) {
  const { groups, total, doubtful, groups_left_out: leftOut } = staged;
  if (groups.length === 0)
    return (
      <Empty title="No calls in this span.">Choose more days. Calls appear here when they are booked, a few seconds after their end.</Empty>
    );
  const span = { from: new Date(Date.parse(until) - days * dayMs).toISOString(), to: until };
  return (
    <>
      <DataTable caption="Who pays what" columns={columnsOf(staged, by, span)} rows={groups} keyOf={({ name }) => name} totals={total} />
      {leftOut > 0 && <Notice tone="info">{leftOut} further groups with smaller differences are in the total only.</Notice>}
      {doubtful.map(({ model, reason, rows }) => (
        <Notice key={`${model} ${reason}`} tone="warning">
          {showCount(rows)} {rows === 1 ? 'row' : 'rows'} of {model}: {reason}.
        </Notice>
      ))}
    </>
  );
}

/** The place of the calls of a group. The name of a key ends with its id in parentheses. */
function filterOf(by: string, name: string): Record<string, string> {
  if (by !== 'key') return { [by]: name };
  return { key_id: /\(([^()]+)\)$/.exec(name)?.[1] ?? name };
}

function columnsOf(
  { groups, total }: Staged,
  by: string,
  span: { readonly from: string; readonly to: string },
): readonly Column<StagedGroup>[] {
  const digits = columnDigits(groups.flatMap((group) => [BigInt(group.in_force_nano_usd), BigInt(group.staged_nano_usd)]));
  const size = (nanos: bigint): bigint => (nanos < 0n ? -nanos : nanos);
  const largest = groups.reduce(
    (most, group) => (size(BigInt(group.effect_nano_usd)) > most ? size(BigInt(group.effect_nano_usd)) : most),
    0n,
  );
  return [
    {
      id: 'name',
      title: by.charAt(0).toUpperCase() + by.slice(1),
      grows: true,
      render: (group) =>
        group === total ? (
          'Total'
        ) : (
          <Link to={paths.calls} search={{ ...span, ...filterOf(by, group.name) }}>
            {group.name}
          </Link>
        ),
    },
    { id: 'calls', title: 'Calls', figures: true, priority: 2, render: ({ calls }) => showCount(calls) },
    {
      id: 'booked',
      title: 'Booked',
      figures: true,
      priority: 3,
      render: (group) => <Amount money={BigInt(group.booked_nano_usd)} digits={digits} />,
    },
    {
      id: 'now',
      title: 'In force',
      figures: true,
      priority: 2,
      render: (group) => <Amount money={BigInt(group.in_force_nano_usd)} digits={digits} />,
    },
    { id: 'draft', title: 'Draft', figures: true, render: (group) => <Amount money={BigInt(group.staged_nano_usd)} digits={digits} /> },
    {
      id: 'effect',
      title: 'Difference',
      figures: true,
      render: (group) => <Amount money={BigInt(group.effect_nano_usd)} digits={digits} />,
    },
    {
      id: 'percent',
      title: '%',
      figures: true,
      render: (group) => showChangeOrNew(BigInt(group.staged_nano_usd), BigInt(group.in_force_nano_usd)),
    },
    {
      id: 'bar',
      title: 'Size',
      priority: 3,
      render: (group) =>
        group === total ? null : (
          <svg className={styles['bar']} viewBox="0 0 100 10" height="10" preserveAspectRatio="none" aria-hidden="true">
            <rect
              height="10"
              width={shareOf(size(BigInt(group.effect_nano_usd)), largest) * 100}
              data-more={BigInt(group.effect_nano_usd) > 0n}
            />
          </svg>
        ),
    },
  ];
}

/** The rows of the screen as a file, with exact amounts. */
export function exportStaged({ groups, total }: Staged, by: string): void {
  const line = (name: string, group: StagedGroup): readonly string[] => [
    name,
    String(group.calls),
    ...[group.booked_nano_usd, group.in_force_nano_usd, group.staged_nano_usd, group.effect_nano_usd].map(plainUsd),
  ];
  saveText(
    'who-pays-what.csv',
    writeCsv([
      [by, 'calls', 'booked_usd', 'in_force_usd', 'draft_usd', 'difference_usd'],
      ...groups.map((group) => line(group.name, group)),
      line('Total', total),
    ]),
  );
}
