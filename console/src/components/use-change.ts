import { useState } from 'react';

import { type Input, type OperationId, type Reply, runOperation } from '../api/client.ts';
import { type ApiProblem, toProblem } from '../api/problem.ts';
import { forget } from '../api/query-client.ts';

type Change<Id extends OperationId> = {
  /** @returns the answer, or undefined if it was refused; the refusal is in `problem` */
  readonly run: (input: Input<Id>) => Promise<{ readonly body: Reply<Id> } | undefined>;
  readonly busy: boolean;
  readonly problem: ApiProblem | undefined;
  readonly clear: () => void;
};

/**
 * A change through the admin API.
 * @param kinds the kinds of answers that are asked again after it
 */
export function useChange<Id extends OperationId>(id: Id, kinds: readonly string[]): Change<Id> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  return {
    busy,
    problem,
    clear: () => setProblem(undefined),
    run: async (input) => {
      setBusy(true);
      setProblem(undefined);
      try {
        const { body } = await runOperation(id, input);
        await forget(...kinds);
        return { body };
      } catch (error) {
        const refusal = toProblem(error);
        // Somebody else has changed the object: the page shows its present state, and the next try is about that.
        if (refusal.code === 'version_mismatch') await forget(...kinds);
        setProblem(refusal);
        return undefined;
      } finally {
        setBusy(false);
      }
    },
  };
}
