import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { isLost, question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { useMinute, useSession, useZone } from '../../components/use-page.ts';
import { columnDigits, nanosOf, showMoney } from '../../format/money.ts';
import { showAgo, showTime } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { say } from '../../ui/toasts.tsx';

type Lease = Reply<'credits.leases'>['items'][number];

/** The amounts that gateways hold for calls, by process. Those of a process that is lost can be released. */
export function LeasesTable() {
  const zone = useZone();
  const nowMs = useMinute();
  const mayRelease = may(useSession(), 'credits:write');
  const [node, setNode] = useState<string>();
  const { data, error, refetch } = useQuery({ ...question('credits.leases', {}), refetchInterval: 15_000 });
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={6} />;
  if (data.items.length === 0)
    return (
      <Empty title="No gateway holds an amount.">
        A gateway takes a part of a limit when the first call under it comes, and gives it back after a minute.
      </Empty>
    );
  const digits = columnDigits(data.items.map(({ leased }) => nanosOf(leased)));
  const columns: readonly Column<Lease>[] = [
    { id: 'node', title: 'Gateway', render: (lease) => <code>{lease.node}</code> },
    { id: 'pot', title: 'Of', render: ({ pot }) => pot },
    {
      id: 'seen',
      title: 'Seen',
      priority: 2,
      render: ({ seen_at: at }) =>
        at === null ? 'released' : <span title={showTime(at, zone)}>{showAgo(at, Math.max(nowMs, Date.parse(at)))}</span>,
    },
    { id: 'leased', title: 'Held (USD)', figures: true, render: ({ leased }) => <Amount money={leased} digits={digits} /> },
    ...(mayRelease
      ? [
          {
            id: 'release',
            title: 'Release',
            priority: 2,
            render: (lease: Lease) => (
              <Button kind="quiet" onClick={() => setNode(lease.node)}>
                Release
              </Button>
            ),
          } as const,
        ]
      : []),
  ];
  return (
    <>
      <DataTable caption="Leases by gateway" columns={columns} rows={data.items} keyOf={(lease) => `${lease.node} ${lease.pot}`} />
      {node !== undefined && <ReleaseDialog node={node} leases={data.items} onClose={() => setNode(undefined)} />}
    </>
  );
}

function ReleaseDialog({
  node,
  leases,
  onClose,
}: {
  readonly node: string;
  readonly leases: readonly Lease[];
  readonly onClose: () => void;
}) {
  const [force, setForce] = useState(false);
  const own = leases.filter((lease) => lease.node === node);
  const sum = own.reduce((total, { leased }) => total + nanosOf(leased), 0n);
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Release the leases of ${node}?`}
      action="Release them"
      danger
      operation="credits.release_node"
      input={{ params: { id: node }, body: force ? { force } : {} }}
      command={`weir credits release-node ${quote(node)}${force ? ' --force' : ''}`}
      forgets={['credits', 'standing']}
      onDone={({ released }) => say(`${released} leases are released`)}
    >
      {() => (
        <>
          <p>
            {showMoney(sum)} in {own.length} {own.length === 1 ? 'lease' : 'leases'} can be used by others again. Only for a machine that is
            lost for good: charges that are only in its lost journal are never booked.
          </p>
          <CheckField
            label="Also if it was seen in the last minute"
            help="A process that still runs would spend the same amount twice."
            checked={force}
            onChange={setForce}
          />
        </>
      )}
    </ChangeDialog>
  );
}
