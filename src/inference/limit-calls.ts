import type { EventStep } from './inference-event.ts';

/** How many calls one reply may make. */
export type CallLimits = {
  /** Whether the reply may make only one call in total. */
  readonly oneCall: boolean;
  /** A tool that may be called only once; other tools may be called beside it. */
  readonly calledOnce?: string | undefined;
};

/**
 * Leaves out the surplus calls of a reply. Nothing is lost: the model sees which calls have results and repeats the
 * others.
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
