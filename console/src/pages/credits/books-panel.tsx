import { useQuery } from '@tanstack/react-query';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { BooksState } from '../../components/books-state.tsx';
import { Failure } from '../../components/failure.tsx';
import { useChange } from '../../components/use-change.ts';
import { useMinute } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { showAgo } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import { useState } from 'react';
import styles from './credits-page.module.css';

/** When the books were added up last, and what came out. */
function LastPass() {
  const nowMs = useMinute();
  const { data } = useQuery(question('credits.verifications', { query: { limit: 1 } }));
  const [last] = data?.items ?? [];
  return (
    <>
      {last !== undefined && (
        <>
          <BooksState addsUp={last.adds_up} verifiedAt={last.ended_at} />, {showCount(last.checked)} rows added up{' '}
          {showAgo(last.ended_at, Math.max(nowMs, Date.parse(last.ended_at)))}.{' '}
        </>
      )}
      Running gateways verify the books all the time. If the books of a user do not add up, calls of that user are refused.
    </>
  );
}

/** Whether the books add up, recomputed now. */
export function BooksPanel() {
  const change = useChange('credits.verify', []);
  const [found, setFound] = useState<Reply<'credits.verify'>>();
  const verify = async (): Promise<void> => {
    const done = await change.run({});
    if (done !== undefined) setFound(done.body);
  };
  return (
    <div className={styles['books']}>
      <p role="status">
        {found === undefined ? (
          <LastPass />
        ) : found.adds_up ? (
          <State sign="✓" word={`The books add up: ${showCount(found.checked)} rows recomputed just now.`} tone="good" />
        ) : (
          <State sign="✗" word="The books do not add up." tone="bad" />
        )}
      </p>
      <Button busy={change.busy} onClick={() => void verify()}>
        Add up now
      </Button>
      {change.problem !== undefined && <Failure error={change.problem} />}
      {found !== undefined && !found.adds_up && (
        <Notice tone="bad">
          {found.problems.map(({ account, what }) => (
            <p key={`${account} ${what}`}>
              {account ?? 'an account that is not yours'}: {what}
            </p>
          ))}
          {found.problem_count > found.problems.length && <p>and {showCount(found.problem_count - found.problems.length)} more</p>}
        </Notice>
      )}
    </div>
  );
}
