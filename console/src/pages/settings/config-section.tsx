import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { NameFilter } from '../../components/name-filter.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { say } from '../../ui/toasts.tsx';

type Field = Reply<'config.get'>['fields'][number];

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '—' : typeof value === 'string' ? value : JSON.stringify(value);

/** A secret is never shown: only whether it is set, and its end. */
function valueOf({ value, secret }: Field): string {
  if (secret === null) return textOf(value);
  return secret.set ? `set, ends in ${secret.ends_in ?? '—'}` : 'not set';
}

function sourceOf({ from, variable, line }: Field): string {
  if (variable !== null) return `${from}: ${variable}`;
  return line === null ? from : `${from}, line ${line}`;
}

/** Every field of the configuration in force: value, default, where it comes from, and whether a restart is needed. */
export function ConfigSection() {
  const [search] = useAddress();
  const mayReload = may(useSession(), 'config:write');
  const [isReloading, setIsReloading] = useState(false);
  const { data, error, refetch } = useQuery(question('config.get', { query: {} }));
  const problems = useQuery(question('config.problems', {}));
  const wanted = (one(search, 'q') ?? '').toLowerCase();
  const rows = data?.fields.filter((field) => `${field.path} ${valueOf(field)} ${sourceOf(field)}`.toLowerCase().includes(wanted));
  const columns: readonly Column<Field>[] = [
    { id: 'path', title: 'Field', grows: true, render: ({ path }) => <FieldPath path={path} /> },
    { id: 'value', title: 'Value', render: (field) => <span title={valueOf(field)}>{valueOf(field)}</span> },
    { id: 'default', title: 'Default', priority: 2, render: (field) => textOf(field.default) },
    { id: 'from', title: 'Comes from', priority: 2, render: sourceOf },
    { id: 'restart', title: 'A change needs', priority: 3, render: (field) => (field.needs_restart ? 'a restart' : 'a reload') },
  ];
  return (
    <Panel
      title={`Configuration in force${data === undefined ? '' : ` in ${data.node}`}`}
      tools={
        mayReload ? (
          <Button icon="refresh" onClick={() => setIsReloading(true)}>
            Reload all gateways
          </Button>
        ) : undefined
      }
    >
      {problems.data?.problems.map(({ node, detail }) => (
        <Notice key={node} tone="bad">
          {node}: {detail}
        </Notice>
      ))}
      {(problems.data?.versions.length ?? 0) > 1 && <Notice tone="warning">Gateways have different files.</Notice>}
      <NameFilter label="Search any field" />
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {rows === undefined && error === null && <Skeleton rows={12} />}
      {rows?.length === 0 && <Empty title="No field fits.">Search for a part of the name, the value or the source.</Empty>}
      {rows !== undefined && rows.length > 0 && <DataTable caption="Fields" columns={columns} rows={rows} keyOf={({ path }) => path} />}
      {isReloading && (
        <ChangeDialog
          open
          onClose={() => setIsReloading(false)}
          title="Reload all gateways?"
          action="Reload"
          operation="config.reload"
          input={{}}
          forgets={['config', 'nodes']}
          onDone={({ nodes }) => say(`${nodes.filter((node) => node.has_followed).length} of ${nodes.length} gateways have reloaded`)}
        >
          {() => <p>Every gateway reads its file and its lists of models now. A file with a mistake leaves the present one in force.</p>}
        </ChangeDialog>
      )}
    </Panel>
  );
}

/** A gateway in a word. */
export function NodeState({ state }: { readonly state: 'running' | 'silent' }) {
  return state === 'running' ? <State sign="●" word="running" tone="good" /> : <State sign="○" word="silent" tone="muted" />;
}

/** The path of a field, which goes on in the next line after a dot rather than within a name. */
function FieldPath({ path }: { readonly path: string }) {
  const parts = path.split('.');
  return (
    <code>
      {parts.map((part, index) => (
        <Fragment key={parts.slice(0, index + 1).join('.')}>
          {index > 0 && (
            <>
              .<wbr />
            </>
          )}
          {part}
        </Fragment>
      ))}
    </code>
  );
}
