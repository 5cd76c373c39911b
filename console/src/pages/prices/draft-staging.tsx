import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { OperationProgress } from '../../components/operation-progress.tsx';
import { one } from '../../components/search-params.ts';
import { useChange } from '../../components/use-change.ts';
import { hasEnded, type LongWork, useOperation } from '../../components/use-operation.ts';
import { useAddress, useMinute, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { InlineSelect, TextField } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import type { DraftProps } from './draft-props.ts';
import { dayToday } from './price-list.tsx';
import { readStaged } from './staged-groups.ts';
import { exportStaged, StagedTable } from './staged-table.tsx';
import styles from './prices-page.module.css';

type Grouping = NonNullable<Body<'price_drafts.stage'>['by']>;
type Input = { readonly draft_id?: string; readonly days?: number; readonly by?: Grouping; readonly from?: string };
const groupings: readonly Grouping[] = ['user', 'key', 'model'];

/** The newest staging of the draft, unless the address names one. */
function useStaging(draftId: string) {
  const [search] = useAddress();
  const named = one(search, 'op');
  const recent = useQuery({
    ...question('operations.list', { query: { kind: 'prices.stage', limit: 50 } }),
    enabled: named === undefined,
  });
  const newest = recent.data?.items.find(({ input }) => (input as Input).draft_id === draftId)?.id;
  return { isLooking: named === undefined && recent.isPending, followed: useOperation(named ?? newest) };
}

/** What users, keys or models would have paid in the last days by the draft. */
export function DraftStaging({ draft }: DraftProps) {
  const [search, change] = useAddress();
  const today = dayToday(useMinute());
  const {
    isLooking,
    followed: { work: operation, problem },
  } = useStaging(draft.id);
  const [days, setDays] = useState(one(search, 'days') ?? '30');
  const [from, setFrom] = useState(one(search, 'from') ?? today);
  const by = groupings.find((name) => name === one(search, 'by')) ?? 'user';
  const starting = useChange('price_drafts.stage', ['operations.list']);
  const isWrong = !/^[1-9]\d{0,3}$/.test(days) || Number(days) > 3660;
  const body = { days: Number(days), by, from };
  const errors = starting.problem?.fieldErrors() ?? {};
  const run = async (): Promise<void> => {
    const started = await starting.run({ params: { id: draft.id }, body });
    if (started !== undefined) change({ op: started.body.id, days, by, from });
  };
  return (
    <>
      <div className={styles['controls']}>
        <TextField
          label="Calls of the last days"
          inputMode="numeric"
          value={days}
          error={isWrong ? '1 to 3660 days.' : errors['days']}
          onChange={setDays}
        />
        <TextField label="As if accepted on (UTC)" type="date" value={from} error={errors['from']} onChange={setFrom} />
        <InlineSelect
          label="Sums by"
          value={by}
          options={groupings.map((name) => ({ value: name, text: `by ${name}` }))}
          onChange={(next) => change({ by: next })}
        />
        <Button
          kind="main"
          busy={starting.busy}
          disabledBecause={
            isWrong ? 'Give 1 to 3660 days.' : operation !== undefined && !hasEnded(operation) ? 'One is running.' : undefined
          }
          onClick={() => void run()}
        >
          Price these calls
        </Button>
      </div>
      {starting.problem !== undefined && <Failure error={starting.problem} />}
      {problem !== undefined && <Failure error={problem} />}
      {isLooking && <Skeleton rows={6} />}
      {!isLooking && operation === undefined && problem === undefined && (
        <Empty title="Nothing was priced with this draft yet.">
          The calls of the last days are priced again, by the code that charges. Nothing in the books changes.
        </Empty>
      )}
      {operation !== undefined && <Staging operation={operation} />}
      <Equivalent
        command={`weir prices stage prices.json --days ${days} --by ${by} --from ${from}`}
        curl={curlOf(location.origin, 'price_drafts.stage', { params: { id: draft.id }, body })}
      />
    </>
  );
}

function Staging({ operation }: { readonly operation: LongWork }) {
  const zone = useZone();
  const staged = readStaged(operation.result);
  const { days = 0, by = 'user', from = '' } = operation.input as Input;
  useKeys({ e: () => staged !== undefined && exportStaged(staged, by) });
  return (
    <>
      <OperationProgress operation={operation} what="Pricing the calls again" />
      {staged !== undefined && (
        <>
          <p className={styles['layers']}>
            <span>
              Calls of {days} days before {showMinute(operation.created_at, zone)}, priced as if accepted on {from}
            </span>
            <span>asked by {operation.actor}</span>
            <Button icon="download" shortcut="e" onClick={() => exportStaged(staged, by)}>
              CSV
            </Button>
            <Button icon="print" onClick={() => window.print()}>
              Print
            </Button>
          </p>
          <StagedTable staged={staged} by={by} days={days} until={operation.created_at} />
        </>
      )}
    </>
  );
}
