import { useState } from 'react';

import { addressOf, type Body } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { useMinute, useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { say } from '../../ui/toasts.tsx';
import { toProblem } from '../../api/problem.ts';
import { paramsOf, readOwner, statementOf } from '../credits/account-owner.ts';
import { OwnerField, useOwners } from '../credits/owner-field.tsx';
import { download } from '../usage/export-menu.tsx';
import styles from './finance-overview.module.css';
import { monthBefore } from './months.ts';

const monthsBack = 12;

/** The files of a user, a team or the organization for a month: use by day, every call, and the statement. */
export function MonthPapers() {
  const { time_zone: zone } = useSession();
  const nowMs = useMinute();
  const owners = useOwners();
  const months = Array.from({ length: monthsBack }, (_, back) => monthBefore(nowMs, zone, back));
  const [name, setName] = useState(months[1]?.name ?? '');
  const [account, setAccount] = useState('organization');
  const month = months.find((each) => each.name === name) ?? months[0];
  const owner = readOwner(account) ?? { level: 'organization' };
  if (month === undefined) return null;
  const { from, to } = month;
  const filters = owner.level === 'organization' ? {} : { [owner.level]: [owner.name] };
  const question: Body<'usage.query'> = {
    from,
    to,
    time_zone: zone,
    granularity: 'day',
    // Sums of teams are made of single calls, which are grouped by team or by key.
    group_by: owner.level === 'organization' ? ['user', 'model'] : ['key', 'model'],
    limit: 50,
    rank_by: 'amount',
    ...(owner.level !== 'organization' && { filters }),
  };
  const save = (format: 'xlsx' | 'csv'): void =>
    void download(question, format).catch((error: unknown) => say('The export failed', toProblem(error).message));
  const open = (path: string): void => location.assign(path);
  const statement = `${statementOf(owner)}_export` as const;
  return (
    <Panel title="Files of a month">
      <div className={styles['form']}>
        {owners === undefined ? null : <OwnerField value={account} onChange={setAccount} />}
        <SelectField
          label={`Month (${zone})`}
          value={month.name}
          options={months.map((each) => ({ value: each.name, text: each.name }))}
          onChange={setName}
        />
      </div>
      <p className={styles['files']}>
        <Button icon="download" onClick={() => save('xlsx')}>
          Workbook
        </Button>
        <Button icon="download" onClick={() => save('csv')}>
          Sums as CSV
        </Button>
        <Button icon="download" onClick={() => open(addressOf('calls.download', { query: { from, to, ...filters, format: 'csv' } }).path)}>
          Every call as CSV
        </Button>
        <Button icon="download" onClick={() => open(addressOf(statement, { params: paramsOf(owner), query: { from, to } }).path)}>
          Statement
        </Button>
      </p>
      <Equivalent command={undefined} curl={curlOf(location.origin, 'usage.export', { body: { question, format: 'xlsx' } })} />
    </Panel>
  );
}
