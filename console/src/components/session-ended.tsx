import { useSyncExternalStore } from 'react';

import { ApiProblem } from '../api/problem.ts';
import { queryClient } from '../api/query-client.ts';
import { Notice } from '../ui/notice.tsx';
import { SignInAgain } from './sign-in-again.tsx';

const subscribe = (onChange: () => void): (() => void) => queryClient.getQueryCache().subscribe(onChange);

const isEnded = (): boolean =>
  queryClient
    .getQueryCache()
    .findAll({ type: 'active' })
    .some(({ state: { error } }) => error instanceof ApiProblem && error.code === 'unauthenticated');

/** Says that the session has ended. What the page shows stays, and can still be read. */
export function SessionEnded() {
  if (!useSyncExternalStore(subscribe, isEnded)) return null;
  return (
    <Notice tone="warning">
      <p>
        Your session has ended. This page shows what it showed before. <SignInAgain />
      </p>
    </Notice>
  );
}
