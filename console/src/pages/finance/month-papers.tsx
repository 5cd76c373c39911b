import { useState } from 'react';

import { addressOf, type Body } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { type Download, useDownload } from '../../components/use-download.ts';
import { useMinute, useSession } from '../../components/use-page.ts';
import { showBytes } from '../../format/numbers.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { say } from '../../ui/toasts.tsx';
import { toProblem } from '../../api/problem.ts';
import { paramsOf, readOwner, statementOf } from '../credits/account-owner.ts';
import { OwnerField } from '../credits/owner-field.tsx';
import { download } from '../usage/export-menu.tsx';
import styles from './finance-overview.module.css';
import { monthBefore } from './months.ts';

const monthsBack = 12;

/**
 * The files of a user, a team or the organization for a month: use by day, every call, and the statement. The workbook of
 * all users or of one is the monitor's, with every record; that of a team has the sums that the page has.
 */
export function MonthPapers() {
  const { time_zone: zone } = useSession();
  const nowMs = useMinute();
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
  const workbook = useDownload();
  const bill = { from, to, granularity: 'day', ...(owner.level === 'user' && { user: owner.name }) } as const;
  const saveWorkbook = (): void =>
    owner.level === 'team' ? save('xlsx') : workbook.start(addressOf('usage.workbook', { query: bill }).path);
  const open = (path: string): void => location.assign(path);
  const statement = `${statementOf(owner)}_export` as const;
  return (
    <Panel title="Files of a month">
      <div className={styles['form']}>
        <OwnerField value={account} onChange={setAccount} />
        <SelectField
          label={`Month (${zone})`}
          value={month.name}
          options={months.map((each) => ({ value: each.name, text: each.name }))}
          onChange={setName}
        />
      </div>
      <p className={styles['files']}>
        <Button icon="download" busy={workbook.bytes !== undefined} onClick={saveWorkbook}>
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
      <Saving download={workbook} onRetry={saveWorkbook} />
      <Equivalent
        command={undefined}
        curl={
          owner.level === 'team'
            ? curlOf(location.origin, 'usage.export', { body: { question, format: 'xlsx' } })
            : curlOf(location.origin, 'usage.workbook', { query: bill })
        }
      />
    </Panel>
  );
}

/** How much of a workbook has arrived, and why one was not saved. */
function Saving({ download: { bytes, problem, cancel }, onRetry }: { readonly download: Download; readonly onRetry: () => void }) {
  return (
    <>
      {bytes !== undefined && (
        <p className={styles['files']} role="status">
          {bytes === 0 ? 'The workbook is being made' : `${showBytes(bytes)} of the workbook have arrived`}
          <Button icon="stop" onClick={cancel}>
            Cancel
          </Button>
        </p>
      )}
      {problem !== undefined && <Failure error={problem} onRetry={onRetry} />}
    </>
  );
}
