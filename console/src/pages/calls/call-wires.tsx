import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';

import { toProblem } from '../../api/problem.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { Button } from '../../ui/button.tsx';
import { loadAgain } from '../../ui/load-again.ts';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';

const WiresView = lazy(
  loadAgain(() => import('../../components/wires-view.tsx').then(({ WiresView: component }) => ({ default: component }))),
);

/** The wires of a call, if a capture has kept them. They are asked for only when wanted: each reading is audited. */
export function CallWires({ id }: { readonly id: string }) {
  const [isWanted, setIsWanted] = useState(false);
  const { data, error, refetch, isFetching } = useQuery({
    ...question('calls.wires', { params: { id } }),
    enabled: isWanted,
    staleTime: Infinity,
  });
  const isKept = error === null || toProblem(error).code !== 'not_found';
  return (
    <Panel title="On the wire">
      {!isWanted && <Button onClick={() => setIsWanted(true)}>Show request and reply, if a capture kept them</Button>}
      {isFetching && data === undefined && <Skeleton rows={4} />}
      {!isKept && (
        <Empty title="The content of this call is not kept.">
          A capture keeps the next calls of a key for a day. Operators order one in the settings.
        </Empty>
      )}
      {error !== null && isKept && <Failure error={error} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <Suspense fallback={<Skeleton rows={4} />}>
          <WiresView data={data} />
        </Suspense>
      )}
    </Panel>
  );
}
