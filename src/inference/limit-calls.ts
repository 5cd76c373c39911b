import type { EventStep } from './inference-event.ts';

/** How many calls one reply may make. */
export type CallLimits = {
  /** Whether it may make one call only, of whatever tool. */
  readonly oneCall: boolean;
  /** A tool that is called once at most; others may be called beside it. */
  readonly calledOnce?: string | undefined;
};

/**
 * Leaves out the calls of a reply that its client did not want. Nothing is lost: the model sees which calls were answered, and asks again for the others.
 * @param onSurplus called with the name of each tool whose call is left out
 */
export function limitCalls({ oneCall, calledOnce }: CallLimits, onSurplus: (name: string) => void): EventStep {
  const hidden = new Set<number>();
  let hasCall = false;
  let isCalledOnce = false;
  return (event) => {
    if (event.type === 'block-started' && event.block.kind === 'tool-call') {
      const { name } = event.block;
      const isSurplus = (oneCall && hasCall) || (name === calledOnce && isCalledOnce);
      if (isSurplus) {
        hidden.add(event.index);
        onSurplus(name);
        return [];
      }
      hasCall = true;
      isCalledOnce ||= name === calledOnce;
    }
    return 'index' in event && hidden.has(event.index) ? [] : [event];
  };
}
