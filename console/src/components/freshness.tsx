import { useIsFetching, useQuery } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

import { isPassing, queryClient, question } from '../api/query-client.ts';
import { showClock, showOffset } from '../format/times.ts';
import styles from './freshness.module.css';
import { useMinute, useZone } from './use-page.ts';

/** Answers of what the page shows; the frame's own questions are not among them. */
const shown = () =>
  queryClient
    .getQueryCache()
    .findAll({ type: 'active' })
    .filter(({ queryKey: [id] }) => !String(id).startsWith('session.'));

/** The time of the newest answer on the page, in Unix milliseconds. */
const newestAnswer = (): number => Math.max(0, ...shown().map(({ state }) => state.dataUpdatedAt));

/** Whether a part of the page could not be asked for again, so that it shows what was. */
const isStale = (): boolean => shown().some(({ state }) => isPassing(state.error ?? state.fetchFailureReason));

const subscribe = (onChange: () => void): (() => void) => queryClient.getQueryCache().subscribe(onChange);

const healthMs = 15_000;

/** Whether so much time has passed since the page was opened: its own first answers tell of its health until then. */
function useIsLater(ms: number): boolean {
  const [isLater, setIsLater] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLater(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isLater;
}

const usePath = (): string => useRouterState({ select: ({ location }) => location.pathname });

/** The newest answer of the page: a question of a later minute that is not answered yet does not make it unknown. */
function useLastOf(path: string, answeredMs: number): number {
  const last = useRef({ path, answeredMs });
  if (answeredMs > 0 || last.current.path !== path) last.current = { path, answeredMs };
  return last.current.answeredMs;
}

/** How fresh the page is, and in which zone its times are. */
export function Freshness() {
  const zone = useZone();
  const nowMs = useMinute();
  const fetching = useIsFetching();
  const answeredMs = useSyncExternalStore(subscribe, newestAnswer);
  const health = useQuery({ ...question('session.ways', {}), enabled: useIsLater(healthMs), refetchInterval: healthMs, retry: false });
  const stale = useSyncExternalStore(subscribe, isStale);
  const isAway = isPassing(health.error) || stale;
  const newestMs = useLastOf(usePath(), answeredMs);
  const time = newestMs === 0 ? '' : `as of ${showClock(newestMs, zone)}`;
  const words = isAway ? ['no answer', time].filter((part) => part !== '').join('; ') : fetching > 0 ? 'loading' : time;
  return (
    <p className={styles['freshness']} data-away={isAway} title={`Times are in ${zone} (${showOffset(nowMs, zone)})`}>
      {words !== '' && (
        <span className={styles['dot']} aria-hidden="true">
          {isAway ? '✗' : '●'}
        </span>
      )}
      <span className={styles['words']} role={isAway ? 'alert' : undefined}>
        {words}
      </span>
      <span className={styles['zone']}>{zone}</span>
    </p>
  );
}
