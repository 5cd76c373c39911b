import type { EventStep, InferenceEvent } from './inference-event.ts';

type BlockEvent = Extract<InferenceEvent, { index: number }>;

/** A block that has begun and not ended. Its events wait while another block is open. */
type Block = { readonly index: number; readonly held: BlockEvent[] };

/**
 * Waiting deltas are joined up to about this number of characters, so that a long wait stores text and not thousands of
 * events.
 */
const joinedCharactersMax = 65_536;

function hold({ held }: Block, event: BlockEvent): void {
  const last = held.at(-1);
  if (event.type === 'delta' && last?.type === 'delta' && last.text.length < joinedCharactersMax) {
    held[held.length - 1] = { ...last, text: last.text + event.text };
  } else held.push(event);
}

/**
 * Puts overlapping blocks in order: one block is open at a time, the others wait for its end, and indices count up
 * without gaps. Events of the open block pass at once. A call that another call interrupts has not ended: only the
 * upstream knows when it is complete, so the events of others are held until then. Merging them would corrupt the
 * arguments of both calls.
 *
 * The output follows the grammar for any input: events of blocks that have not begun or have ended are left out, and
 * `finished` ends all open blocks. The reader of the events limits how much of a reply may wait.
 */
export function serializeBlocks(): EventStep {
  const blocks = new Map<number, Block>();
  /** Blocks in the order in which they began. Those from `next` on are waiting. */
  const line: Block[] = [];
  let next = 0;
  let open: Block | undefined;
  let outIndex = 0;
  let hasFinished = false;

  const close = (into: InferenceEvent[]): void => {
    open = undefined;
    into.push({ type: 'block-ended', index: outIndex++ });
  };

  const emit = (event: BlockEvent, into: InferenceEvent[]): void => {
    if (event.type === 'part') into.push({ ...event, index: outIndex++ });
    else if (event.type === 'block-ended') close(into);
    else into.push(event.index === outIndex ? event : { ...event, index: outIndex });
  };

  /** Releases waiting blocks up to the first that has not ended, which becomes the open block. */
  const release = (into: InferenceEvent[]): void => {
    while (open === undefined && next < line.length) {
      const block = line[next++];
      if (block === undefined) return;
      if (block.held[0]?.type !== 'part') open = block;
      for (const event of block.held) emit(event, into);
      block.held.length = 0;
    }
    if (next < line.length) return;
    line.length = 0;
    next = 0;
  };

  const begin = (event: BlockEvent, into: InferenceEvent[]): void => {
    const block: Block = { index: event.index, held: [event] };
    if (event.type !== 'part') blocks.set(event.index, block);
    line.push(block);
    release(into);
  };

  const goOn = (block: Block, event: BlockEvent, into: InferenceEvent[]): void => {
    if (event.type === 'block-ended') blocks.delete(block.index);
    if (open !== block) return hold(block, event);
    emit(event, into);
    if (open === undefined) release(into);
  };

  const finish = (event: InferenceEvent, into: InferenceEvent[]): void => {
    hasFinished = true;
    while (open !== undefined) {
      close(into);
      release(into);
    }
    blocks.clear();
    into.push(event);
  };

  return (event) => {
    const events: InferenceEvent[] = [];
    if (hasFinished) return events;
    if (event.type === 'finished') finish(event, events);
    else if (!('index' in event)) events.push(event);
    else {
      const block = blocks.get(event.index);
      if (event.type === 'part' || event.type === 'block-started') {
        if (block === undefined) begin(event, events);
      } else if (block !== undefined) goOn(block, event, events);
    }
    return events;
  };
}
