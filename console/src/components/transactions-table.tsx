import { Link } from '@tanstack/react-router';

import type { Reply } from '../api/client.ts';
import { exactDigits, nanosOf } from '../format/money.ts';
import { showMinute } from '../format/times.ts';
import { paths } from '../paths.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Amount } from './amount.tsx';
import { useZone } from './use-page.ts';

export type Transaction = Reply<'credits.transactions'>['items'][number];

export const kindNames: Readonly<Record<Transaction['kind'], string>> = {
  usage: 'usage',
  top_up: 'payment',
  promo: 'gift',
  correction: 'correction',
  refund: 'refund',
  write_off: 'written off',
};

const dayMs = 86_400_000;

/** The calls of a day in UTC, as the list of calls has them in its address. */
export function callsOfDay(day: string): Readonly<Record<string, string>> {
  const fromMs = Date.parse(day);
  return { from: new Date(fromMs).toISOString(), to: new Date(fromMs + dayMs).toISOString() };
}

/** Postings to an account, newest first. Usage leads to its calls. */
export function TransactionsTable({ rows }: { readonly rows: readonly Transaction[] }) {
  const zone = useZone();
  const digits = exactDigits(rows.map(({ amount }) => nanosOf(amount)));
  const columns: readonly Column<Transaction>[] = [
    { id: 'at', title: 'Posted', render: ({ posted_at: at }) => <time dateTime={at}>{showMinute(at, zone)}</time> },
    { id: 'kind', title: 'Kind', render: ({ kind }) => kindNames[kind] },
    { id: 'what', title: 'What', grows: true, priority: 2, render: (row) => <Subject row={row} /> },
    { id: 'note', title: 'Note', grows: true, priority: 3, render: ({ note }) => note ?? '—' },
    { id: 'actor', title: 'By', priority: 3, render: ({ actor }) => actor ?? '—' },
    { id: 'amount', title: 'Amount (USD)', figures: true, render: ({ amount }) => <Amount money={amount} digits={digits} /> },
  ];
  return <DataTable caption="Transactions, newest first" columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

/** Ids of payments have the name of their account with escapes, which nobody reads. */
function readable(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function Subject({ row: { id, day, user, key_id: keyId, call_id: callId } }: { readonly row: Transaction }) {
  if (callId !== null) return <Link to={paths.call(callId)}>{callId}</Link>;
  if (day === null) {
    const name = readable(id);
    return <code title={name}>{name}</code>;
  }
  const filter = { ...callsOfDay(day), ...(keyId !== null ? { key_id: keyId } : user !== null && { user }) };
  return (
    <Link to={paths.calls} search={filter}>
      calls of {day}
    </Link>
  );
}
