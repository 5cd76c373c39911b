import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { areFirstStepsShown, showFirstSteps } from '../../components/appearance.ts';
import { useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './first-steps.module.css';
import { stepsOf } from './first-steps-facts.ts';
import overviewStyles from './overview-page.module.css';

/** Keys of the playground are among them. */
const keysMax = 50;

/** What a new installation still needs, until all of it is done or somebody hides it. */
export function FirstSteps({ overview }: { readonly overview: Reply<'overview.get'> }) {
  const { person } = useSession();
  const [isShown, setIsShown] = useState(areFirstStepsShown);
  const keys = useQuery({ ...question('keys.list', { query: { limit: keysMax } }), enabled: isShown });
  const upstreams = useQuery({ ...question('upstreams.list', {}), enabled: isShown });
  const standings = useQuery({ ...question('standing.list', { query: { limit: 1 } }), enabled: isShown });
  const config = useQuery({ ...question('config.get', { query: {} }), enabled: isShown });
  // A part that cannot be read says so on its own page; here nothing is claimed about it.
  const failed = [keys, upstreams, standings, config].some(({ isError }) => isError);
  const steps =
    keys.data === undefined || upstreams.data === undefined || standings.data === undefined || config.data === undefined
      ? []
      : stepsOf({ overview, keys: keys.data, upstreams: upstreams.data, standings: standings.data, config: config.data, person });
  const done = steps.filter(({ isDone }) => isDone).length;
  const areDone = steps.length > 0 && done === steps.length;
  // The next visit has no room for what is done, and does not ask again.
  useEffect(() => {
    if (areDone) showFirstSteps(false);
  }, [areDone]);
  if (!isShown || failed || areDone) return null;
  if (steps.length === 0) return <div className={overviewStyles['firstSteps']} />;
  const hide = (): void => {
    showFirstSteps(false);
    setIsShown(false);
  };
  return (
    <div className={overviewStyles['firstSteps']}>
      <Panel
        title={`First steps: ${done} of ${steps.length} done`}
        tools={
          <Button kind="quiet" icon="close" onClick={hide}>
            Hide
          </Button>
        }
      >
        <ol className={styles['steps']}>
          {steps.map(({ text, why, place, isDone }) => (
            <li key={text} data-done={isDone}>
              <span aria-hidden="true">{isDone ? '✓' : '○'}</span>
              <span>
                {isDone ? (
                  <>
                    {text} <span className="visually-hidden">(done)</span>
                  </>
                ) : (
                  <Link {...place}>{text}</Link>
                )}
                <small>{why}</small>
              </span>
            </li>
          ))}
        </ol>
      </Panel>
    </div>
  );
}
