import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { countOf, showCount } from '../../format/numbers.ts';
import { showClock } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import styles from './audit-page.module.css';

/** Whether the log is whole: each row has the hash of the row before it. Long logs are verified rarely. */
const keptMs = 10 * 60_000;

/** The state of the chain of hashes, recomputed by the console. */
export function ChainState({ onOpen }: { readonly onOpen: (row: string) => void }) {
  const zone = useZone();
  const chain = useQuery({ ...question('audit.verify', {}), staleTime: keptMs, refetchOnWindowFocus: false });
  const { data } = chain;
  if (chain.isError) return <Failure error={chain.error} onRetry={() => void chain.refetch()} />;
  const again = (
    <Button kind="quiet" icon="refresh" busy={chain.isFetching} onClick={() => void chain.refetch()}>
      Verify
    </Button>
  );
  if (data !== undefined && data.broken_at !== null) {
    const row = data.broken_at;
    return (
      <Notice tone="bad" action={again}>
        The log is broken at row {showCount(row)}: it, or a row before it, was changed, removed or inserted.{' '}
        <Button onClick={() => onOpen(String(row))}>Open the row</Button>
      </Notice>
    );
  }
  return (
    <div className={styles['chain']} role="status">
      {data === undefined ? (
        <State sign="◌" word="the chain of hashes is recomputed" tone="muted" />
      ) : (
        <>
          <State sign="✓" word={`unbroken, ${countOf(data.rows, 'row')}`} tone="good" />
          <span>
            verified at {showClock(chain.dataUpdatedAt, zone)}
            {data.head !== null && (
              <>
                , head <code title={data.head}>{data.head.slice(0, 12)}…</code>
              </>
            )}
          </span>
        </>
      )}
      {again}
    </div>
  );
}
