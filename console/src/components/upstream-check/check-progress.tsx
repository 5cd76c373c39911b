import { showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import { LongWorkLink } from '../long-work-link.tsx';
import { useChange } from '../use-change.ts';
import { hasEnded, type LongWork } from '../use-operation.ts';
import { useZone } from '../use-page.ts';
import { CheckFindings, CheckMatrix, Remarks } from './check-result.tsx';
import { readCheck } from './check-words.ts';
import styles from './upstream-check.module.css';

/** A check as it proceeds, with its end by hand, and what it found. */
export function CheckProgress({ work }: { readonly work: LongWork }) {
  const zone = useZone();
  const cancel = useChange('operations.cancel', ['operations']);
  const { step, isHealthy, findings, matrix } = readCheck(work);
  const ended = hasEnded(work);
  return (
    <>
      <p className={styles['bar']} role="status">
        {!ended && <State sign="◌" word={step ?? 'waiting for a gateway'} tone="neutral" />}
        {isHealthy === true && <State sign="✓" word="Healthy" tone="good" />}
        {isHealthy === false && <State sign="✗" word="Not healthy" tone="bad" />}
        {ended && work.ended_at !== null && (
          <span>
            checked on {showMinute(work.ended_at, zone)} by {work.actor}
          </span>
        )}
        {!ended && (
          <Button
            busy={cancel.busy}
            disabledBecause={work.is_cancelling ? 'It is being stopped.' : undefined}
            onClick={() => void cancel.run({ params: { id: work.id } })}
          >
            Stop
          </Button>
        )}
        <LongWorkLink id={work.id} />
      </p>
      {work.state === 'cancelled' && <Notice tone="info">The check was stopped. What it found until then is here.</Notice>}
      {work.problem !== null && <Notice tone="bad">{work.problem.detail}</Notice>}
      <CheckMatrix rows={matrix} />
      <Remarks matrix={matrix} />
      <CheckFindings findings={findings} />
    </>
  );
}
