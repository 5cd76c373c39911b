import { ask } from '../api/client.ts';
import { toProblem } from '../api/problem.ts';
import { showCount } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { say } from '../ui/toasts.tsx';
import { LongWorkLink } from './long-work-link.tsx';
import styles from './operation-progress.module.css';
import { hasEnded, type LongWork } from './use-operation.ts';

/** How far long work is, with its end by hand; after it, why it did not end by itself. */
export function OperationProgress({ operation, what }: { readonly operation: LongWork; readonly what: string }) {
  const { id, state, is_cancelling: isCancelling, progress, problem } = operation;
  if (state === 'failed') return <Notice tone="bad">{problem?.detail ?? `${what} failed.`}</Notice>;
  if (state === 'cancelled') return <Notice tone="warning">Cancelled. What follows is the part that was finished until then.</Notice>;
  if (hasEnded(operation)) return null;
  const cancel = (): void =>
    void ask('operations.cancel', { params: { id } }).catch((error: unknown) => say('Not cancelled', toProblem(error).message));
  const { done = 0, total = null, unit = '' } = progress ?? {};
  return (
    <div className={styles['progress']}>
      <progress aria-label={what} {...(total === null || total === 0 ? {} : { value: done, max: total })} />
      <p role="status">
        {state === 'waiting' ? 'Waits for a free place' : `${showCount(done)}${total === null ? '' : ` of ${showCount(total)}`} ${unit}`}
      </p>
      <Button icon="stop" disabledBecause={isCancelling ? 'It is ending.' : undefined} onClick={cancel}>
        Cancel
      </Button>
      <LongWorkLink id={id} />
    </div>
  );
}
