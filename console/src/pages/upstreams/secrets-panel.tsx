import type { Reply } from '../../api/client.ts';
import { useZone } from '../../components/use-page.ts';
import { showDuration } from '../../format/numbers.ts';
import { showTime } from '../../format/times.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { type Secret, secretAge, secretState } from './secret-words.ts';

const kinds = { secret: 'secret', login: 'login to the store', credential: 'credential of the cloud' } as const;

/** When each secret and credential of an upstream was read last, and what prevents it. */
export function SecretsPanel({ secrets }: Pick<Reply<'upstreams.get'>, 'secrets'>) {
  const zone = useZone();
  if (secrets.length === 0) return null;
  const nodes = new Set(secrets.map(({ node }) => node));
  const columns: readonly Column<Secret>[] = [
    { id: 'name', title: 'Secret', grows: true, render: ({ kind, name }) => (kind === 'secret' ? <code>{name}</code> : name) },
    { id: 'kind', title: 'Kind', priority: 2, render: ({ kind }) => kinds[kind] },
    { id: 'from', title: 'From', priority: 3, render: ({ origin }) => origin ?? '—' },
    { id: 'state', title: 'State', render: (secret) => <State {...secretState(secret)} /> },
    {
      id: 'age',
      title: 'Age',
      figures: true,
      render: (secret) => (
        <span title={secret.read_at === null ? '' : showTime(secret.read_at, zone)}>{secretAge(secret, showDuration)}</span>
      ),
    },
    {
      id: 'changed',
      title: 'Value since',
      figures: true,
      priority: 3,
      render: ({ changed_at: at }) => (at === null ? '—' : showTime(at, zone)),
    },
    { id: 'ends', title: 'Ends', figures: true, priority: 2, render: ({ expires_at: at }) => (at === null ? '—' : showTime(at, zone)) },
    ...(nodes.size < 2 ? [] : [{ id: 'node', title: 'Gateway', priority: 3, render: ({ node }) => <code>{node}</code> } as Column<Secret>]),
  ];
  const failing = secrets.filter(({ problem }) => problem !== null);
  return (
    <Panel title="Secrets and credentials">
      <DataTable
        caption="Secrets and credentials"
        columns={columns}
        rows={secrets}
        keyOf={({ kind, name, node }) => `${kind} ${name} ${node}`}
      />
      {failing.map(({ kind, name, node, problem }) => (
        <p key={`${kind} ${name} ${node}`}>{problem}</p>
      ))}
    </Panel>
  );
}
