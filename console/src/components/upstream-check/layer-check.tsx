import { Button } from '../../ui/button.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Failure } from '../failure.tsx';
import { CheckProgress } from './check-progress.tsx';
import { type LayerCheck, type Publication, publicationOf } from './use-layer-check.ts';
import styles from './upstream-check.module.css';

type Props = { readonly check: LayerCheck; readonly disabledBecause: string | undefined };

/** Lets a gateway try the upstreams of a draft, before anybody depends on them. */
export function LayerCheckPart({ check, disabledBecause }: Props) {
  const { state, work, problem, isStarting, mayCall, setMayCall, run } = check;
  const { isNext } = publicationOf(check, '');
  const running = state === 'running' ? 'A check is running.' : undefined;
  return (
    <section className={styles['stack']} aria-label="Check before publishing">
      <p>A gateway tries it first: is the address reachable, is the key accepted, which models are there? Nothing is published by that.</p>
      <CheckField
        label="Make small calls too, which the vendor bills"
        help="About ten calls for each interface, of 16 to 160 tokens."
        checked={mayCall}
        onChange={setMayCall}
      />
      <div>
        <Button
          kind={isNext ? 'plain' : 'main'}
          type={isNext ? 'button' : 'submit'}
          busy={isStarting}
          disabledBecause={disabledBecause ?? running}
          {...(isNext && { onClick: run })}
        >
          {state === 'unchecked' || state === 'running' ? 'Check' : 'Check again'}
        </Button>
      </div>
      {problem !== undefined && <Failure error={problem} />}
      {state === 'nothing' && <Notice tone="info">No upstream changes, so there is nothing to check.</Notice>}
      {work !== undefined && <CheckProgress work={work} />}
    </section>
  );
}

type PublishProps = {
  readonly publication: Publication;
  readonly busy: boolean;
  readonly disabledBecause: string | undefined;
  readonly onPublish: () => void;
};

/** The button that publishes. Until the check has passed, the form is submitted to the check. */
export function PublishButton({ publication: { action, isNext, disabledBecause: waits }, busy, disabledBecause, onPublish }: PublishProps) {
  return (
    <div>
      <Button
        kind={isNext ? 'main' : 'plain'}
        type={isNext ? 'submit' : 'button'}
        busy={busy}
        disabledBecause={disabledBecause ?? waits}
        {...(!isNext && { onClick: onPublish })}
      >
        {action}
      </Button>
    </div>
  );
}
