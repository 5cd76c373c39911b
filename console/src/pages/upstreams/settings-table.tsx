import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { CheckField } from '../../ui/field.tsx';
import styles from './upstreams-page.module.css';

type Setting = Reply<'upstreams.get'>['settings'][number];

const sources = {
  file: 'file',
  environment: 'environment',
  layer: 'published layer',
  simulated: 'simulated vendors',
  default: 'default',
} as const satisfies Readonly<Record<Setting['from'], string>>;

function showValue({ value, secret }: Setting): string {
  if (secret !== null) return secret.set ? (secret.ends_in === null ? 'set' : `set, ends in ${secret.ends_in}`) : 'not set';
  if (value === null) return '—';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function showSource({ from, variable, line }: Setting): string {
  const place = [line === null ? undefined : `line ${line}`, variable === null ? undefined : `\${${variable}}`].filter(
    (part) => part !== undefined,
  );
  return [sources[from], ...place].join(', ');
}

/** The settings of an upstream, and where each comes from. */
export function SettingsTable({ upstream, settings }: { readonly upstream: string; readonly settings: readonly Setting[] }) {
  const [all, setAll] = useState(false);
  const given = settings.filter(({ from }) => from !== 'default');
  const prefix = `upstreams.${upstream}.`;
  const columns: readonly Column<Setting>[] = [
    {
      id: 'path',
      title: 'Setting',
      grows: true,
      render: ({ path }) => <code>{path.startsWith(prefix) ? path.slice(prefix.length) : path}</code>,
    },
    { id: 'value', title: 'Value', render: (setting) => <span title={showValue(setting)}>{showValue(setting)}</span> },
    { id: 'from', title: 'From', render: showSource },
    {
      id: 'default',
      title: 'Default',
      priority: 3,
      render: ({ default: value }) => (value === null ? '—' : <span title={JSON.stringify(value)}>{JSON.stringify(value)}</span>),
    },
  ];
  return (
    <div className={styles['stack']}>
      <DataTable caption="Settings" columns={columns} rows={all ? settings : given} keyOf={({ path }) => path} />
      {given.length < settings.length && (
        <CheckField label={`Show the ${settings.length - given.length} defaults too`} checked={all} onChange={setAll} />
      )}
    </div>
  );
}
