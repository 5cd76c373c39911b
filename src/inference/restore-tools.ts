import type { EventStep, InferenceEvent } from './inference-event.ts';
import type { StopReason } from './inference-reply.ts';

/** What had to be changed about tools on the way to the upstream. */
export type ChangedTools = {
  /** Functions that were renamed: the name that was sent, and the client's. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** A tool that stands in for structured output. */
  readonly answerTool?: string;
};

/**
 * Gives calls the names that the client knows, and turns the call of the tool that stands in for structured output into the text that it
 * is. Text beside such an answer is left out: the client reads the whole text as JSON.
 */
export function restoreTools({ toolNames, answerTool }: ChangedTools): EventStep {
  const answers = new Set<number>();
  const hidden = new Set<number>();
  let otherCalls = false;
  const startBlock = (event: Extract<InferenceEvent, { type: 'block-started' }>): readonly InferenceEvent[] => {
    const { block, index } = event;
    if (block.kind === 'text' && answerTool !== undefined) {
      hidden.add(index);
      return [];
    }
    if (block.kind !== 'tool-call') return [event];
    if (block.name === answerTool) {
      // A second answer behind the first would make of both what is no JSON.
      if (answers.size > 0) {
        hidden.add(index);
        return [];
      }
      answers.add(index);
      return [{ type: 'block-started', index, block: { kind: 'text' } }];
    }
    otherCalls = true;
    const name = toolNames?.get(block.name) ?? block.name;
    return [{ type: 'block-started', index, block: { ...block, name } }];
  };
  return (event) => {
    if (event.type === 'block-started') return startBlock(event);
    if (event.type === 'finished') return [{ ...event, stopReason: endOf(event.stopReason, answers.size > 0 && !otherCalls) }];
    if (!('index' in event)) return [event];
    if (hidden.has(event.index)) return [];
    return event.type === 'proof' && answers.has(event.index) ? [] : [event];
  };
}

function endOf(stopReason: StopReason, answered: boolean): StopReason {
  return answered && stopReason === 'tool-calls' ? 'end' : stopReason;
}
