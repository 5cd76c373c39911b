import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { showUsd } from '../../format/money.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { asBook, conditionsOf, idOfEntry, plainPrices, priceChange, type PriceBookFile, readDecimal, withPrice } from './price-words.ts';
import styles from './prices-page.module.css';

type Row = {
  readonly key: string;
  readonly index: number;
  readonly model: string;
  readonly from: string;
  readonly member: string;
  readonly label: string;
  readonly price: string;
  readonly now: string | undefined;
};

type TableProps = { readonly book: PriceBookFile; readonly onChange: (book: PriceBookFile) => void };

/** The single prices of a draft, beside those in force. */
export function PriceTable({ book, onChange }: TableProps) {
  const inForce = useQuery({ ...question('prices.export', {}), staleTime: 60_000 });
  const present = new Map(
    (inForce.data === undefined ? [] : asBook(inForce.data.book).entries).map((entry) => [`${entry.vendor}/${entry.model}`, entry]),
  );
  const rows = book.entries.flatMap((entry, index): Row[] => {
    const before = present.get(`${entry.vendor}/${entry.model}`);
    const old = new Map((before === undefined ? [] : plainPrices(before)).map(({ member, price }) => [member, price]));
    return plainPrices(entry).map(({ member, label, price }, place) => ({
      key: `${index} ${member}`,
      index,
      model: place === 0 ? `${entry.vendor}/${entry.model}` : '',
      from: place === 0 ? entry.effectiveFrom : '',
      member,
      label,
      price,
      now: old.get(member),
    }));
  });
  const set = (row: Row, price: string): void =>
    onChange({ ...book, entries: book.entries.map((entry, index) => (index === row.index ? withPrice(entry, row.member, price) : entry)) });
  const conditional = book.entries.filter((entry) => conditionsOf(entry).length > 0);
  return (
    <>
      <DataTable caption="Prices of the draft, in USD" columns={columnsOf(book, set)} rows={rows} keyOf={({ key }) => key} />
      {conditional.length > 0 && (
        <p className={styles['muted']}>
          {conditional.map(idOfEntry).join(', ')}: also {conditional.flatMap(conditionsOf).slice(0, 6).join('; ')}. The text has these.
        </p>
      )}
    </>
  );
}

const columnsOf = (book: PriceBookFile, set: (row: Row, price: string) => void): readonly Column<Row>[] => [
  {
    id: 'meter',
    title: 'Price',
    render: ({ model, from, label }) => (
      <>
        {model !== '' && (
          <b className={styles['model']}>
            {model} <small>from {from}</small>
          </b>
        )}
        {label}
      </>
    ),
  },
  { id: 'now', title: 'In force', figures: true, priority: 2, render: ({ now }) => (now === undefined ? '—' : showUsd(now)) },
  {
    id: 'price',
    title: 'Draft, USD',
    figures: true,
    render: (row) => {
      const entry = book.entries[row.index];
      return (
        <input
          className={styles['price']}
          inputMode="decimal"
          aria-label={`${entry?.vendor ?? ''}/${entry?.model ?? ''}, ${row.label}`}
          aria-invalid={readDecimal(row.price) === undefined || undefined}
          value={row.price}
          onChange={(event) => set(row, event.target.value)}
        />
      );
    },
  },
  {
    id: 'change',
    title: 'Change',
    figures: true,
    priority: 2,
    render: ({ now, price }) => <Change before={now ?? null} after={price} />,
  },
];

/** The change of a price, in percent. */
export function Change({ before, after }: { readonly before: string | null; readonly after: string | null }) {
  const change = priceChange(before, after);
  if (change === undefined) return '—';
  return <span className={change.isMore ? styles['more'] : styles['less']}>{change.text}</span>;
}
