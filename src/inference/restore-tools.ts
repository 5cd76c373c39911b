import type { EventStep, InferenceEvent } from './inference-event.ts';
import type { StopReason } from './inference-reply.ts';

/** The changes of a request's tools that were necessary for the upstream. */
export type ChangedTools = {
  /** Renamed functions: the name that was sent, and the client's name. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** The tool that replaces structured output. */
  readonly answerTool?: string;
};

/**
 * Gives calls the client's names, and turns the call of the answer tool into the text of the structured output. Text
 * beside such an answer is left out, because the client reads the whole text as JSON.
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
      // A second answer after the first would make the text invalid JSON.
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
