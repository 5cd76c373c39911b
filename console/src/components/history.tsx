import { useQuery } from '@tanstack/react-query';

import { isLost, question } from '../api/query-client.ts';
import { showMinute } from '../format/times.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Empty, Skeleton } from '../ui/notice.tsx';
import type { Reply } from '../api/client.ts';
import { Failure } from './failure.tsx';
import { ValueChange } from './value-change.tsx';
import { useZone } from './use-page.ts';
import styles from './history.module.css';

type Entry = Reply<'audit.list'>['items'][number];
const rowsMax = 50;

/** The changes of an object, newest first. @param subject in the audit log: `user:ann` */
export function History({ subject }: { readonly subject: string }) {
  const zone = useZone();
  const { data, error, refetch } = useQuery(question('audit.list', { query: { subject, limit: rowsMax } }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={6} />;
  if (data.items.length === 0) return <Empty title="Nothing was changed since the log began." />;
  const columns: readonly Column<Entry>[] = [
    { id: 'at', title: 'Time', render: ({ at }) => <time dateTime={at}>{showMinute(at, zone)}</time> },
    { id: 'actor', title: 'Who', render: ({ actor }) => actor },
    {
      id: 'change',
      title: 'What',
      grows: true,
      render: ({ action, before, after }) => (
        <div className={styles['change']}>
          {action}
          <ValueChange before={before} after={after} />
        </div>
      ),
    },
    { id: 'note', title: 'Note', grows: true, priority: 3, render: ({ note }) => note ?? '—' },
  ];
  return <DataTable caption="Changes" columns={columns} rows={data.items} keyOf={({ sequence }) => String(sequence)} />;
}
