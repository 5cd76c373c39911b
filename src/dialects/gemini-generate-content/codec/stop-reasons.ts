import type { StopReason } from '../../../inference/inference-reply.ts';

// Source: the vendor's API description, FinishReason, including reasons for images.
const reasons: Readonly<Record<string, StopReason>> = {
  STOP: 'end',
  MAX_TOKENS: 'output-limit',
  SAFETY: 'refusal',
  RECITATION: 'refusal',
  BLOCKLIST: 'refusal',
  PROHIBITED_CONTENT: 'refusal',
  SPII: 'refusal',
  IMAGE_SAFETY: 'refusal',
  IMAGE_PROHIBITED_CONTENT: 'refusal',
  IMAGE_RECITATION: 'refusal',
  LANGUAGE: 'failed',
  OTHER: 'failed',
  MALFORMED_FUNCTION_CALL: 'failed',
  UNEXPECTED_TOOL_CALL: 'failed',
  TOO_MANY_TOOL_CALLS: 'failed',
  MISSING_THOUGHT_SIGNATURE: 'failed',
  MALFORMED_RESPONSE: 'failed',
  IMAGE_OTHER: 'failed',
  NO_IMAGE: 'failed',
};

/** Reads a finish reason. The vendor has none for calls, so the parts of the whole reply decide. */
export function decodeStopReason(finishReason: string, hasCalls: boolean): StopReason {
  // A reason that is newer than this table is an ordinary end.
  const reason = reasons[finishReason.toUpperCase()] ?? 'end';
  return reason === 'end' && hasCalls ? 'tool-calls' : reason;
}

const names: Readonly<Record<StopReason, string>> = {
  end: 'STOP',
  'stop-sequence': 'STOP',
  'tool-calls': 'STOP',
  pause: 'STOP',
  'output-limit': 'MAX_TOKENS',
  'context-limit': 'MAX_TOKENS',
  refusal: 'SAFETY',
  failed: 'OTHER',
};

/**
 * Writes the stop reason, and the message beside it if there is one. A detail that is one of the vendor's reasons
 * becomes the reason.
 */
export function encodeEnding(
  stopReason: StopReason,
  detail: string | undefined,
): { readonly finishReason: string; readonly finishMessage?: string } {
  if (detail === undefined) return { finishReason: names[stopReason] };
  if (reasons[detail] === stopReason) return { finishReason: detail };
  return { finishReason: names[stopReason], finishMessage: detail };
}
