import { useIsFetching, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

import { toProblem } from '../api/problem.ts';
import { queryClient, question } from '../api/query-client.ts';
import { showClock, showOffset } from '../format/times.ts';
import styles from './freshness.module.css';
import { useMinute, useZone } from './use-page.ts';

/** The time of the newest answer on the page, in Unix milliseconds. */
function newestAnswer(): number {
  return Math.max(
    0,
    ...queryClient
      .getQueryCache()
      .findAll({ type: 'active' })
      .map(({ state }) => state.dataUpdatedAt),
  );
}

const subscribe = (onChange: () => void): (() => void) => queryClient.getQueryCache().subscribe(onChange);

/** How fresh the page is, and in which zone its times are. */
export function Freshness() {
  const zone = useZone();
  const nowMs = useMinute();
  const fetching = useIsFetching();
  const answeredMs = useSyncExternalStore(subscribe, newestAnswer);
  const health = useQuery({ ...question('session.ways', {}), refetchInterval: 15_000, retry: false });
  const isAway = health.isError && toProblem(health.error).body.status !== 401;
  const time = answeredMs === 0 ? '' : showClock(answeredMs, zone);
  const words = isAway ? `no answer; as of ${time}` : fetching > 0 ? 'loading' : `as of ${time}`;
  return (
    <p className={styles['freshness']} data-away={isAway} title={`Times are in ${zone} (${showOffset(nowMs, zone)})`}>
      <span className={styles['dot']} aria-hidden="true">
        {isAway ? '✗' : '●'}
      </span>
      <span className={styles['words']} role={isAway ? 'alert' : undefined}>
        {words}
      </span>
      <span className={styles['zone']}>{zone}</span>
    </p>
  );
}
