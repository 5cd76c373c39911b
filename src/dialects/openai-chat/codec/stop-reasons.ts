import type { StopReason } from '../../../inference/inference-reply.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';

/** Finish reasons of the vendor and of servers and services that imitate it. */
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
 * Reads a finish reason. The content of the reply takes precedence, because servers send `stop` although there are
 * calls, and the other way round. An unknown reason is a normal end.
 */
export function decodeStopReason(finishReason: string | undefined, { hasCalls, hasRefusal }: ReplyContents): StopReason {
  const byName = meaningOf(finishReason, stopReasons);
  const reason = byName ?? 'end';
  if (reason === 'end' || reason === 'tool-calls') {
    if (hasCalls) return 'tool-calls';
    return hasRefusal ? 'refusal' : 'end';
  }
  return reason;
}

const usualReasons = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** Whether a finish reason is the vendor's own, so that its meaning is certain. */
export const isUsualReason = (finishReason: string): boolean => usualReasons.has(finishReason);

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_calls',
  'output-limit': 'length',
  'context-limit': 'length',
  refusal: 'content_filter',
  pause: 'stop',
  // The vendor has no value for it. Imitating servers use this one, and no program reads it as a successful end.
  failed: 'error',
};

/**
 * Writes a finish reason. The vendor's refusals have their own text and end with `stop`; a content filter has its own
 * reason.
 */
export function encodeStopReason(stopReason: StopReason, { hasCalls, hasRefusal }: ReplyContents): string {
  if (stopReason === 'end' && hasCalls) return 'tool_calls';
  if (stopReason === 'refusal' && hasRefusal) return 'stop';
  return finishReasons[stopReason];
}
