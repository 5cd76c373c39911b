import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { NewDraftDialog } from './new-draft-dialog.tsx';

type Draft = Reply<'price_drafts.list'>['items'][number];

/** Prices that charge nothing until they are published. */
export function DraftsTable() {
  const navigate = useNavigate();
  const zone = useZone();
  const [search, change] = useAddress();
  const { data, error, refetch } = useQuery(question('price_drafts.list', {}));
  const start = one(search, 'new');
  useKeys({ n: () => change({ new: '1' }) });
  return (
    <>
      <div>
        <Button kind="main" icon="plus" shortcut="n" onClick={() => change({ new: '1' })}>
          New draft
        </Button>
      </div>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={6} />}
      {data?.items.length === 0 && (
        <Empty title="There is no draft." line="weir prices stage new-prices.yaml --days 30 --by user">
          A draft holds prices that charge nothing. It shows what would change and who would pay what, before it is published.
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <DataTable
          caption="Drafts of prices, newest first"
          columns={columnsOf(zone)}
          rows={data.items}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: paths.priceDraft(id) })}
        />
      )}
      <NewDraftDialog
        key={start ?? ''}
        open={start !== undefined}
        models={start === undefined || start === '1' ? '' : start}
        onClose={() => change({ new: undefined }, true)}
      />
    </>
  );
}

const columnsOf = (zone: string): readonly Column<Draft>[] => [
  { id: 'name', title: 'Draft', grows: true, render: ({ id, name }) => <Link to={paths.priceDraft(id)}>{name}</Link> },
  { id: 'note', title: 'Note', grows: true, priority: 2, render: ({ note }) => <span title={note ?? ''}>{note ?? '—'}</span> },
  { id: 'actor', title: 'Author', priority: 2, render: ({ actor }) => actor },
  { id: 'made', title: 'Made', priority: 3, render: ({ created_at: at }) => showMinute(at, zone) },
  { id: 'changed', title: 'Changed', render: ({ changed_at: at }) => <time dateTime={at}>{showMinute(at, zone)}</time> },
];
