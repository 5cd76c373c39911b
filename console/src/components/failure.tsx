import { lazy, Suspense } from 'react';

import { toProblem } from '../api/problem.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Notice } from '../ui/notice.tsx';
import styles from './failure.module.css';
import { SignInAgain } from './sign-in-again.tsx';

// Needed rarely, so it is not in the first load.
const ConfirmSignIn = lazy(() => import('./confirm-sign-in.tsx').then(({ ConfirmSignIn: component }) => ({ default: component })));

/** What went wrong, in the server's words, with what can be done. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { body } = toProblem(error);
  const { title, detail, code, permission, request_id: requestId, errors = [] } = body;
  return (
    <Notice tone="bad" action={onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}>
      <p className={styles['title']}>{title}</p>
      <p>{detail}</p>
      {permission !== undefined && <p>The permission is {permission}. An operator can give you a role that has it.</p>}
      {code === 'unauthenticated' && (
        <p>
          Your session has ended. <SignInAgain />
        </p>
      )}
      {code === 'recent_sign_in_required' && (
        <Suspense>
          <ConfirmSignIn />
        </Suspense>
      )}
      {errors.map((each) => (
        <p key={`${each.pointer}${each.parameter}${each.detail}`}>{each.detail}</p>
      ))}
      <p className={styles['small']}>
        {code}
        {requestId !== '' && (
          <>
            {' '}
            · {requestId} <Copy text={requestId} label="Copy the id of the request" />
          </>
        )}
      </p>
    </Notice>
  );
}
