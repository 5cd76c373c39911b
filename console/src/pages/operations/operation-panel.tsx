import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { curlOf } from '../../api/equivalents.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { hasEnded, useOperation } from '../../components/use-operation.ts';
import { useZone } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { showTime } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { Document } from '../../ui/document.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { SidePanel } from '../../ui/split.tsx';
import { State } from '../../ui/state.tsx';
import styles from './operations-page.module.css';
import { placeOfWork, textOfKind, type Work, workStates } from './work-words.ts';

/** One piece of long work, as it proceeds. */
export function OperationPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { work, problem } = useOperation(id);
  return (
    <SidePanel label="Long work" title={work === undefined ? id : textOfKind(work.kind)} onClose={onClose}>
      {problem !== undefined && <Failure error={problem} />}
      {work === undefined && problem === undefined && <Skeleton rows={8} />}
      {work !== undefined && <Details work={work} />}
    </SidePanel>
  );
}

function Details({ work }: { readonly work: Work }) {
  const zone = useZone();
  const [isCancelling, setIsCancelling] = useState(false);
  const { id, actor, state, progress, problem, attempts, input } = work;
  const place = placeOfWork(work);
  const at = (instant: string | null): string => (instant === null ? '—' : showTime(instant, zone));
  return (
    <>
      <p className={styles['actions']} role="status">
        <State {...workStates[state]} />
        {!hasEnded(work) && progress !== null && (
          <span>
            {showCount(progress.done)}
            {progress.total !== null && ` of ${showCount(progress.total)}`} {progress.unit}
          </span>
        )}
      </p>
      {!hasEnded(work) && progress?.total != null && progress.total > 0 && (
        <progress aria-label="Progress" value={progress.done} max={progress.total} />
      )}
      {problem !== null && (
        <Notice tone="bad">
          {problem.detail} ({problem.code})
        </Notice>
      )}
      {state === 'cancelled' && <Notice tone="info">It was cancelled. The part that was finished until then is its result.</Notice>}
      <p className={styles['actions']}>
        {place !== undefined && <Link {...place}>{hasEnded(work) ? 'Its result' : 'Where its result will be'}</Link>}
        {!hasEnded(work) && (
          <Button icon="stop" disabledBecause={work.is_cancelling ? 'It is ending.' : undefined} onClick={() => setIsCancelling(true)}>
            Cancel
          </Button>
        )}
      </p>
      <Facts
        rows={[
          ['Id', <code key="id">{id}</code>],
          ['By', actor],
          ['Asked for', at(work.created_at)],
          ['Began', at(work.started_at)],
          ['Ended', at(work.ended_at)],
          ...(attempts > 1 ? [['Attempts', `${attempts}: a process ended meanwhile, and another began again`] as const] : []),
        ]}
      />
      <Panel title="Input">
        <Document value={input} />
      </Panel>
      <Equivalent command={`weir operations show ${id}`} curl={curlOf(location.origin, 'operations.get', { params: { id } })} />
      {isCancelling && (
        <ChangeDialog
          open
          onClose={() => setIsCancelling(false)}
          title="Cancel this work?"
          action="Cancel it"
          danger
          operation="operations.cancel"
          input={{ params: { id } }}
          command={`weir operations cancel ${id}`}
          forgets={['operations']}
        >
          {() => <p>It ends at its next step. What it has finished until then stays its result.</p>}
        </ChangeDialog>
      )}
    </>
  );
}
