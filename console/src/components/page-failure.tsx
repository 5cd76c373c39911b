import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

import { toProblem } from '../api/problem.ts';
import { againMs, isPassing } from '../api/query-client.ts';
import { Failure } from './failure.tsx';

/** A whole page that failed. It tries again by itself while that may help. */
export function PageFailure({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const router = useRouter();
  const { reset: forgetErrors } = useQueryErrorResetBoundary();
  const again = (): void => {
    forgetErrors();
    reset();
    void router.invalidate();
  };
  useEffect(() => {
    if (!isPassing(error)) return undefined;
    const timer = setTimeout(again, againMs);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [error]);
  return (
    <>
      <h1 className="visually-hidden">{toProblem(error).body.title}</h1>
      <Failure error={error} onRetry={again} />
    </>
  );
}
