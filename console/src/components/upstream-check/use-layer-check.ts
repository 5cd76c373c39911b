import { useEffect, useRef, useState } from 'react';

import { ask, type Body } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { useChange } from '../use-change.ts';
import { hasEnded, type LongWork, useOperation } from '../use-operation.ts';
import { readCheck } from './check-words.ts';

type LayerSource = Pick<Body<'config.layers.check'>, 'layer' | 'yaml' | 'from' | 'upstreams'>;

/** Where a draft stands: `nothing` has no upstream that could be checked. */
type LayerCheckState = 'unchecked' | 'running' | 'healthy' | 'unhealthy' | 'nothing';

export type LayerCheck = {
  readonly state: LayerCheckState;
  /** The check of the present draft. */
  readonly work: LongWork | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isStarting: boolean;
  readonly mayCall: boolean;
  readonly setMayCall: (may: boolean) => void;
  readonly run: () => void;
};

/**
 * The check of a draft before it is published. Its result is about the draft as it was then: after a change the draft
 * counts as unchecked. When the draft changes or the dialog closes, a running check is stopped.
 */
export function useLayerCheck(draft: LayerSource): LayerCheck {
  const [asked, setAsked] = useState<{ readonly draft: string; readonly id?: string }>();
  const [mayCall, setMayCall] = useState(false);
  const start = useChange('config.layers.check', ['operations']);
  const present = JSON.stringify(draft);
  const own = asked?.draft === present ? asked : undefined;
  const { work, problem } = useOperation(own?.id);
  const isRunning = useRef(false);
  isRunning.current = own?.id !== undefined && (work === undefined || !hasEnded(work));
  useEffect(() => {
    const id = own?.id;
    return () => {
      // It may have ended a moment before.
      if (id !== undefined && isRunning.current) ask('operations.cancel', { params: { id } }).catch(() => undefined);
    };
  }, [own?.id]);
  const refused = own === undefined ? undefined : start.problem;
  return {
    state: stateOf(work, own?.id !== undefined || start.busy, refused),
    work,
    problem: isUnchanged(refused) ? undefined : (refused ?? problem),
    isStarting: start.busy,
    mayCall,
    setMayCall,
    run: () => {
      if (start.busy || isRunning.current) return;
      setAsked({ draft: present });
      void start
        .run({ body: { ...draft, may_call: mayCall } })
        .then((done) => done !== undefined && setAsked({ draft: present, id: done.body.id }));
    },
  };
}

const isUnchanged = (problem: ApiProblem | undefined): boolean => problem?.body.errors?.some(({ code }) => code === 'unchanged') === true;

function stateOf(work: LongWork | undefined, wasAsked: boolean, refused: ApiProblem | undefined): LayerCheckState {
  if (isUnchanged(refused)) return 'nothing';
  if (refused !== undefined || !wasAsked) return 'unchecked';
  if (work === undefined || !hasEnded(work)) return 'running';
  const { isHealthy } = readCheck(work);
  if (work.state !== 'done' || isHealthy === undefined) return 'unchecked';
  return isHealthy ? 'healthy' : 'unhealthy';
}

export type Publication = {
  readonly action: string;
  /** Whether publishing is the next step; else it is the check, and the key that ends a line never skips that. */
  readonly isNext: boolean;
  readonly disabledBecause: string | undefined;
};

/** How a button publishes a draft, by what its check has found. */
export function publicationOf({ state }: Pick<LayerCheck, 'state'>, action: string): Publication {
  if (state === 'healthy' || state === 'nothing') return { action, isNext: true, disabledBecause: undefined };
  const disabledBecause = state === 'running' ? 'The check is running.' : undefined;
  return { action: state === 'unhealthy' ? `${action} all the same` : `${action} without a check`, isNext: false, disabledBecause };
}
