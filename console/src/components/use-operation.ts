import { useEffect, useState } from 'react';

import { apiPath, ask, type Reply } from '../api/client.ts';
import { type ApiProblem, toProblem } from '../api/problem.ts';

export type LongWork = Reply<'operations.get'>;

type Followed = { readonly work: LongWork | undefined; readonly problem: ApiProblem | undefined };

/**
 * Long work, as it proceeds, until it has ended. A stream that breaks is opened again by the browser, which says what it
 * received last.
 * @param id undefined: nothing is followed
 */
export function useOperation(id: string | undefined): Followed {
  const [followed, setFollowed] = useState<Followed & { readonly id?: string }>({ work: undefined, problem: undefined });
  useEffect(() => {
    if (id === undefined) return undefined;
    const source = new EventSource(`${apiPath}/operations/${encodeURIComponent(id)}/events`);
    source.addEventListener('operation', (event) => {
      const work = JSON.parse((event as MessageEvent<string>).data) as LongWork;
      setFollowed({ id, work, problem: undefined });
      // The server ends the stream then, which a browser takes for a fault.
      if (work.ended_at !== null) source.close();
    });
    source.onerror = () => {
      // An address that is refused is not tried again; the ordinary request has the reason.
      if (source.readyState !== EventSource.CLOSED) return;
      ask('operations.get', { params: { id } }).then(
        (work) => setFollowed({ id, work, problem: undefined }),
        (error: unknown) => setFollowed({ id, work: undefined, problem: toProblem(error) }),
      );
    };
    return () => source.close();
  }, [id]);
  return followed.id === id ? followed : { work: undefined, problem: undefined };
}

export const hasEnded = ({ ended_at: at }: LongWork): boolean => at !== null;
