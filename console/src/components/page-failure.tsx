import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

import { toProblem } from '../api/problem.ts';
import { againMs, isPassing } from '../api/query-client.ts';
import { BarePage } from './bare-page.tsx';
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
      {isPassing(error) && <p>The page tries again by itself, every few seconds.</p>}
    </>
  );
}

/** Shown in place of the console when the server fails to say who is signed in. */
export function WholeFailure(props: Parameters<typeof PageFailure>[0]) {
  return (
    <BarePage wide>
      <PageFailure {...props} />
    </BarePage>
  );
}
