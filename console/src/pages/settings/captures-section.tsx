import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useSession, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { countOf } from '../../format/numbers.ts';

type Capture = Reply<'captures.list'>['items'][number];

/** Calls that are kept as they are on the wire, for a day. */
export function CapturesSection() {
  const zone = useZone();
  const mayWrite = may(useSession(), 'config:write');
  const [isMaking, setIsMaking] = useState(false);
  const [removed, setRemoved] = useState<Capture>();
  const { data, error, refetch } = useQuery(question('captures.list', {}));
  return (
    <Panel
      title="Captures of the last day"
      tools={
        mayWrite ? (
          <Button icon="plus" onClick={() => setIsMaking(true)}>
            New capture
          </Button>
        ) : undefined
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={3} />}
      {data?.items.length === 0 && (
        <Empty title="Nothing is captured.">
          A capture keeps all four wires of the next calls of one key, sealed, for a day. Its owner sees that.
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <DataTable
          caption="Captures"
          columns={columnsOf(zone, mayWrite ? setRemoved : undefined)}
          rows={data.items}
          keyOf={({ id }) => id}
        />
      )}
      {isMaking && <NewCapture onClose={() => setIsMaking(false)} />}
      {removed !== undefined && <Removal capture={removed} onClose={() => setRemoved(undefined)} />}
    </Panel>
  );
}

function Removal({ capture: { id, user, key }, onClose }: { readonly capture: Capture; readonly onClose: () => void }) {
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Delete the capture of ${user}/${key}?`}
      action="Delete it"
      danger
      operation="captures.delete"
      input={{ params: { id } }}
      command={`weir captures delete ${quote(id)}`}
      forgets={['captures']}
    >
      {() => <p>The calls that it has kept are deleted too.</p>}
    </ChangeDialog>
  );
}

function NewCapture({ onClose }: { readonly onClose: () => void }) {
  const [key, setKey] = useState('');
  const [calls, setCalls] = useState('5');
  const [minutes, setMinutes] = useState('15');
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Capture the next calls of a key"
      action="Begin"
      operation="captures.create"
      input={{ body: { key_id: key, calls: Number(calls), minutes: Number(minutes) } }}
      command={`weir captures create --key ${quote(key || 'KEY')} --calls ${quote(calls)} --minutes ${quote(minutes)}`}
      forgets={['captures', 'audit']}
      disabledBecause={key === '' ? 'The id of a key is missing.' : undefined}
    >
      {(errors) => (
        <>
          <p>Prompts and replies are kept, sealed, for a day. The owner of the key sees it, and it is in the audit log.</p>
          <TextField label="Id of the key" mono value={key} error={errors['key_id']} required autoFocus onChange={setKey} />
          <TextField label="Calls, at most" inputMode="numeric" value={calls} error={errors['calls']} onChange={setCalls} />
          <TextField label="Minutes, at most" inputMode="numeric" value={minutes} error={errors['minutes']} onChange={setMinutes} />
        </>
      )}
    </ChangeDialog>
  );
}

function columnsOf(zone: string, onRemove: ((capture: Capture) => void) | undefined): readonly Column<Capture>[] {
  return [
    {
      id: 'key',
      title: 'Key',
      grows: true,
      render: ({ key_id: id, user, key }) => (
        <Link to={paths.key(id)}>
          <KeyName user={user} name={key} />
        </Link>
      ),
    },
    { id: 'state', title: 'State', render: ({ state, taken, calls }) => `${state}, ${taken} of ${countOf(calls, 'call')}` },
    { id: 'until', title: 'Until', priority: 2, render: ({ until }) => showMinute(until, zone) },
    { id: 'by', title: 'By', priority: 3, render: ({ created_by: by }) => by },
    {
      id: 'kept',
      title: 'Kept',
      priority: 2,
      render: ({ kept }) =>
        kept.map(({ call_id: id }) => (
          <Link key={id} to={paths.call(id)}>
            {id}{' '}
          </Link>
        )),
    },
    ...(onRemove !== undefined
      ? [
          {
            id: 'delete',
            title: 'Delete',
            render: (capture: Capture) => (
              <Button
                kind="quiet"
                icon="trash"
                label={`Delete the capture of ${capture.user}/${capture.key}`}
                onClick={() => onRemove(capture)}
              />
            ),
          },
        ]
      : []),
  ];
}
