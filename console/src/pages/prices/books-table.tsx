import { Link, useNavigate } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { isLost } from '../../api/query-client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { usePages } from '../../components/use-pages.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';

export type PublishedBook = Reply<'price_books.list'>['items'][number];

/** The books that were published, newest first. */
export function BooksTable() {
  const navigate = useNavigate();
  const zone = useZone();
  const pages = usePages('price_books.list', { query: {} });
  if (isLost(pages.error, pages.data)) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Skeleton rows={8} />;
  const rows = pages.data.pages.flatMap(({ items }) => items);
  if (rows.length === 0)
    return (
      <Empty title="No book was published yet." line="weir prices publish prices.json --from 2027-01-01 --note 'why'">
        The prices of this release hold, and those of the configuration. A draft becomes a book when it is published.
      </Empty>
    );
  return (
    <>
      <DataTable
        caption="Published price books, newest first"
        columns={columnsOf(zone)}
        rows={rows}
        keyOf={({ number }) => String(number)}
        onOpen={({ number }) => void navigate({ to: paths.priceBook(String(number)) })}
      />
      {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>More</Button>}
      <Equivalent command="weir prices history" curl={curlOf(location.origin, 'price_books.list', {})} />
    </>
  );
}

export const scopes = { override: 'changes the models in it', whole: 'is the whole list' } as const;

const columnsOf = (zone: string): readonly Column<PublishedBook>[] => [
  { id: 'number', title: 'Book', render: ({ number }) => <Link to={paths.priceBook(String(number))}>{`store-${number}`}</Link> },
  { id: 'label', title: 'Version of its author', priority: 3, render: ({ label }) => label },
  { id: 'from', title: 'First day (UTC)', render: ({ effective_from: day }) => day },
  { id: 'scope', title: 'Scope', priority: 3, render: ({ scope }) => scopes[scope] },
  { id: 'actor', title: 'Author', priority: 2, render: ({ actor }) => actor },
  {
    id: 'at',
    title: 'Published',
    figures: true,
    priority: 2,
    render: ({ published_at: at }) => <time dateTime={at}>{showMinute(at, zone)}</time>,
  },
  { id: 'note', title: 'Note', grows: true, render: ({ note }) => <span title={note ?? ''}>{note ?? '—'}</span> },
  { id: 'digest', title: 'Digest', priority: 3, render: ({ digest }) => <code title={digest}>{digest.slice(0, 12)}</code> },
];
