import type { StopReason } from '../../../inference/inference-reply.ts';
import { meaningOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

const neutralByWire: Readonly<Record<string, StopReason | undefined>> = {
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  tool_use: 'tool-calls',
  max_tokens: 'output-limit',
  model_context_window_exceeded: 'context-limit',
  refusal: 'refusal',
  pause_turn: 'pause',
};

const wireByNeutral: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  'output-limit': 'max_tokens',
  'context-limit': 'model_context_window_exceeded',
  refusal: 'refusal',
  pause: 'pause_turn',
  // The vendor has no such end of a message; the partial text remains.
  failed: 'end_turn',
};

type Ending = { readonly stopReason: StopReason; readonly stopSequence?: string; readonly stopDetail?: string };

/**
 * Reads how a message ended, from the message or from the `delta` of its last event. Unknown reasons are ordinary ends.
 */
export function decodeEnding(wire: JsonObject, hasToolCalls: boolean): Ending {
  const { stop_reason: reason, stop_sequence: sequence, stop_details: details } = wire;
  const stopReason = meaningOf(reason, neutralByWire) ?? 'end';
  const stopDetail = readDetail(details);
  return {
    // Imitating servers report an ordinary end although there are calls.
    stopReason: stopReason === 'end' && hasToolCalls ? 'tool-calls' : stopReason,
    ...(typeof sequence === 'string' ? { stopSequence: sequence } : {}),
    ...(stopDetail === undefined ? {} : { stopDetail }),
  };
}

function readDetail(details: JsonValue | undefined): string | undefined {
  if (!isJsonObject(details)) return undefined;
  const detail = [details.explanation, details.category].find((text) => typeof text === 'string' && text !== '');
  return textOf(detail);
}

/** The contents of a reply that decide its stop reason. */
export type SeenContents = { readonly toolCalls: boolean; readonly refusals: boolean };

/** Writes how a message ended: the members that a message and the `delta` of its last event share. */
export function encodeEnding({ stopReason, stopSequence, stopDetail }: Ending, contents: SeenContents): JsonObject {
  const isEnd = stopReason === 'end';
  const reason = isEnd && contents.toolCalls ? 'tool_use' : isEnd && contents.refusals ? 'refusal' : wireByNeutral[stopReason];
  const sequence = reason === 'stop_sequence' ? (stopSequence ?? null) : null;
  if (reason !== 'refusal') return { stop_reason: reason, stop_sequence: sequence };
  return {
    stop_reason: reason,
    stop_sequence: sequence,
    stop_details: { type: 'refusal', category: null, explanation: stopDetail ?? null },
  };
}
