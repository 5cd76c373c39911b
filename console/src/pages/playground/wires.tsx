import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { toProblem } from '../../api/problem.ts';
import { Failure } from '../../components/failure.tsx';
import { WiresView } from '../../components/wires-view.tsx';
import type { Run } from '../../playground/runs.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';

const triesMax = 6;
const waitMs = 900;

/** What was sent and received in the last call, on both sides of the gateway. */
export function Wires({ run }: { readonly run: Run | undefined }) {
  const id = run?.state === 'ended' ? run.requestId : undefined;
  const { data, error, refetch, isFetching } = useQuery({
    ...question('playground.wires', { params: { id: id ?? '' } }),
    enabled: id !== undefined,
    staleTime: Infinity,
    // They are kept a moment after the end of a call.
    retry: (failures, problem) => toProblem(problem).code === 'not_found' && failures < triesMax,
    retryDelay: waitMs,
  });
  if (run === undefined) return <Empty title="Nothing was sent yet.">The wires of the last call are shown here.</Empty>;
  if (id === undefined) return <Empty title={run.state === 'running' ? 'The call is under way.' : 'The call did not reach the gateway.'} />;
  if (error !== null && toProblem(error).code === 'not_found')
    return (
      <>
        <Empty title="The wires of this call were not kept.">
          They are kept for an hour from the first message on, and begin a moment after it. A refused call has none.
        </Empty>
        <Button busy={isFetching} onClick={() => void refetch()}>
          Look again
        </Button>
      </>
    );
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} />;
  return <WiresView data={data} />;
}
