import type { StopReason } from '../../../inference/inference-reply.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';

/** Words of the vendor and of servers and services that imitate it. */
const stopReasons: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  eos: 'end',
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  length: 'output-limit',
  max_tokens: 'output-limit',
  model_length: 'context-limit',
  model_context_window_exceeded: 'context-limit',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'refusal',
  refusal: 'refusal',
  sensitive: 'refusal',
  error: 'failed',
  abort: 'failed',
  network_error: 'failed',
  insufficient_system_resource: 'failed',
};

export type ReplyContents = { readonly hasCalls: boolean; readonly hasRefusal: boolean };

/**
 * Reads a finish reason. What the reply holds has the last word: servers say `stop` although calls came, and the other way round. A word
 * that nobody knows is an end.
 */
export function decodeStopReason(finishReason: string | undefined, { hasCalls, hasRefusal }: ReplyContents): StopReason {
  const known = meaningOf(finishReason, stopReasons);
  const reason = known ?? 'end';
  if (reason === 'end' || reason === 'tool-calls') {
    if (hasCalls) return 'tool-calls';
    return hasRefusal ? 'refusal' : 'end';
  }
  return reason;
}

const usualReasons = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** Whether a finish reason is the vendor's own, so that its meaning says all. */
export const isUsualReason = (finishReason: string): boolean => usualReasons.has(finishReason);

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_calls',
  'output-limit': 'length',
  'context-limit': 'length',
  refusal: 'content_filter',
  pause: 'stop',
  // The vendor has no word for it. Those of its imitators that have one say this, and no program takes it for a good end.
  failed: 'error',
};

/** Writes a finish reason. The vendor's own refusals come as text of their own and end with `stop`; a filter's end has a word. */
export function encodeStopReason(stopReason: StopReason, { hasCalls, hasRefusal }: ReplyContents): string {
  if (stopReason === 'end' && hasCalls) return 'tool_calls';
  if (stopReason === 'refusal' && hasRefusal) return 'stop';
  return finishReasons[stopReason];
}
