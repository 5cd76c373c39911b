import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { curlOf } from '../../api/equivalents.ts';
import { forget, versionedQuestion } from '../../api/query-client.ts';
import { Amount } from '../../components/amount.tsx';
import { Equivalent } from '../../components/equivalent.tsx';
import { OperationProgress } from '../../components/operation-progress.tsx';
import { one } from '../../components/search-params.ts';
import { PageHead } from '../../components/page-head.tsx';
import { hasEnded, useOperation } from '../../components/use-operation.ts';
import { useAddress, usePathPart, useZone } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/panel.tsx';
import { Split } from '../../ui/split.tsx';
import { State } from '../../ui/state.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { AcceptDialog } from './accept-dialog.tsx';
import { CellCalls } from './cell-calls.tsx';
import { commandOf, stateOfComparison } from './comparison-words.ts';
import { CostsTable, exportCosts } from './costs-table.tsx';
import { type CellName, type Detail, showDays } from './month-days.ts';
import { exportCells, UsageCells } from './usage-cells.tsx';
import styles from './reconciliation-page.module.css';

/** One comparison: what the vendor counts differently, and the calls behind it. */
export function ComparisonPage() {
  const id = usePathPart('id');
  const [isAccepting, setIsAccepting] = useState(false);
  const {
    data: { body: found, version },
  } = useSuspenseQuery(versionedQuestion('reconciliations.get', { params: { id } }));
  useComparing(found);
  const exportAll = (): void => {
    if (found.result?.cells != null) exportCells(found);
    else if (found.result?.costs != null) exportCosts(found);
  };
  useKeys({ e: exportAll });
  const hasNone = found.result === null ? 'There is no result yet.' : undefined;
  return (
    <>
      <PageHead title={`${found.vendor}, ${showDays(found)}`}>
        <Button icon="download" shortcut="e" disabledBecause={hasNone} onClick={exportAll}>
          CSV
        </Button>
        <Button icon="print" onClick={() => window.print()}>
          Print
        </Button>
        <Button kind="main" disabledBecause={hasNone} onClick={() => setIsAccepting(true)}>
          {found.accepted === null ? 'Accept …' : 'Note …'}
        </Button>
      </PageHead>
      <div className={styles['facts']}>
        <Summary found={found} />
      </div>
      <Result found={found} />
      <p>
        <Link to={paths.reconciliation()}>All comparisons</Link>
      </p>
      <Equivalent command={commandOf(found)} curl={curlOf(location.origin, 'reconciliations.get', { params: { id } })} />
      <AcceptDialog found={found} version={version} open={isAccepting} onClose={() => setIsAccepting(false)} />
    </>
  );
}

/** Asks again when the comparison has ended. */
function useComparing({ state, operation_id: operationId }: Detail): void {
  const { work } = useOperation(state === 'comparing' ? (operationId ?? undefined) : undefined);
  const isOver = work !== undefined && hasEnded(work);
  useEffect(() => {
    if (isOver) void forget('reconciliations');
  }, [isOver]);
}

function Summary({ found }: { readonly found: Detail }) {
  const zone = useZone();
  const { kind, time_zone: vendorZone, upstream, file, actor, created_at: at, tolerance, note, accepted, compared, differing } = found;
  const { over_tolerance: over, ours, theirs, charged, prices } = found;
  const things = kind === 'usage' ? 'models × days' : 'items × days';
  return (
    <Facts
      rows={[
        ['State', <State key="state" {...stateOfComparison(found)} />],
        ['Recognised as', `${kind} of ${found.vendor}, days of ${vendorZone}`],
        ['Days', showDays(found)],
        ['Upstream', upstream ?? 'all of this vendor'],
        ['File', `${file.name}, ${showCount(file.bytes)} bytes, SHA-256 ${file.sha256.slice(0, 16)}…`],
        ['Compared', `by ${actor}, ${showMinute(at, zone)}`],
        ...(compared === null || differing === null || over === null
          ? []
          : ([
              ['Differences', `${showCount(differing)} of ${showCount(compared)} ${things}; ${showCount(over)} over ${tolerance} %`],
            ] as const)),
        ...(ours === null ? [] : ([['Ours, at list price', <Amount key="ours" money={ours} />]] as const)),
        ...(theirs === null ? [] : ([['Theirs', <Amount key="theirs" money={theirs} />]] as const)),
        ...(charged === null ? [] : ([['Charged to users', <Amount key="charged" money={charged} />]] as const)),
        ...(kind === 'costs' ? ([['List prices of', prices]] as const) : []),
        ['Accepted', accepted === null ? 'no' : `by ${accepted.by}, ${showMinute(accepted.at, zone)}`],
        ['Note', note ?? '—'],
      ]}
    />
  );
}

function Result({ found }: { readonly found: Detail }) {
  const [search, change] = useAddress();
  const { result, state, problem, operation_id: operationId } = found;
  const { work } = useOperation(state === 'comparing' ? (operationId ?? undefined) : undefined);
  const cell = readCell(one(search, 'cell'));
  if (state === 'comparing')
    return work === undefined ? (
      <Notice tone="info">It is being compared.</Notice>
    ) : (
      <OperationProgress operation={work} what="Comparing" />
    );
  if (problem !== null) return <Notice tone="bad">{problem.detail}</Notice>;
  if (result === null) return <Notice tone="warning">It was cancelled. Compare the export again.</Notice>;
  const leftOut = Object.entries(result.left_out ?? {}).filter(([, count]) => count > 0);
  return (
    <>
      {result.unread.length > 0 && (
        <Notice tone="warning">
          <p>Not compared, because it could not be read:</p>
          <ul>
            {result.unread.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Notice>
      )}
      {leftOut.length > 0 && (
        <p className={styles['muted']}>
          Such an export has no calls of other kinds: {leftOut.map(([kind, count]) => `${showCount(count)} ${kind}`).join(', ')}.
        </p>
      )}
      {result.cells !== null && (
        <Split panel={cell !== undefined && <CellCalls id={found.id} cell={cell} onClose={() => change({ cell: undefined })} />}>
          <UsageCells found={found} open={cell} onOpen={(next) => change({ cell: `${next.day} ${next.model}` }, cell !== undefined)} />
        </Split>
      )}
      {result.costs !== null && <CostsTable found={found} />}
    </>
  );
}

function readCell(text: string | undefined): CellName | undefined {
  const [, day, model] = /^(\d{4}-\d\d-\d\d) (.+)$/.exec(text ?? '') ?? [];
  return day === undefined || model === undefined ? undefined : { day, model };
}
