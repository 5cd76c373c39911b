import type { EventStep, InferenceEvent } from './inference-event.ts';

/** Characters of one event's text, for the limit on what may wait. */
function weightOf(event: InferenceEvent): number {
  return event.type === 'delta' ? event.text.length : 1;
}

/**
 * Puts overlapping blocks in line: one block is open at a time, the others wait until it has ended, and indices count up without gaps. Events of the open block
 * pass at once. A call that another call interrupts has not ended: it is only known to be complete when the upstream says so, so what the others say is held back
 * until then. Merging the two would corrupt the arguments of both.
 */
export function serializeBlocks(): EventStep {
  const waiting = new Map<number, InferenceEvent[]>();
  let open: number | undefined;
  let nextIndex = 0;

  const emit = (event: InferenceEvent, into: InferenceEvent[]): void => {
    if (event.type === 'block-started') {
      open = event.index;
      into.push({ ...event, index: nextIndex });
    } else if (event.type === 'part') into.push({ ...event, index: nextIndex++ });
    else if (event.type === 'block-ended') {
      open = undefined;
      into.push({ ...event, index: nextIndex++ });
    } else if ('index' in event) into.push({ ...event, index: nextIndex });
    else into.push(event);
  };

  const releaseWaiting = (into: InferenceEvent[]): void => {
    for (const [index, events] of waiting) {
      if (open !== undefined) return;
      waiting.delete(index);
      for (const event of events) emit(event, into);
    }
  };

  return (event) => {
    const events: InferenceEvent[] = [];
    if (!('index' in event)) emit(event, events);
    else if (open === undefined || open === event.index) {
      emit(event, events);
      if (open === undefined) releaseWaiting(events);
    } else {
      const held = waiting.get(event.index);
      if (held === undefined) waiting.set(event.index, [event]);
      else appendHeld(held, event);
    }
    return events;
  };
}

/** Deltas that wait are joined, so that a long wait holds text and not thousands of events. */
function appendHeld(held: InferenceEvent[], event: InferenceEvent): void {
  const last = held.at(-1);
  if (event.type === 'delta' && last?.type === 'delta' && weightOf(last) < 65_536) {
    held[held.length - 1] = { ...last, text: last.text + event.text };
  } else held.push(event);
}
