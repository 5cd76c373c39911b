import type { InferenceReply, StopReason } from '../../../inference/inference-reply.ts';
import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { readErrorObject } from '../read-reply.ts';

const incompleteReasons: Readonly<Record<string, StopReason>> = {
  max_output_tokens: 'output-limit',
  max_tokens: 'output-limit',
  length: 'output-limit',
  content_filter: 'refusal',
};

/** Why a response ended: its status, and where that is `completed` what is in it. */
export function decodeEnd(
  response: JsonObject,
  { hasCalls, hasRefusal }: { readonly hasCalls: boolean; readonly hasRefusal: boolean },
): Pick<InferenceReply, 'stopReason' | 'stopDetail'> {
  const { status } = response;
  if (status === 'failed' || status === 'cancelled') {
    return {
      stopReason: 'failed',
      stopDetail: status === 'failed' ? readErrorObject(response.error).message : 'The response was cancelled.',
    };
  }
  if (status === 'incomplete') {
    const reason = textOf(membersOf(response.incomplete_details).reason);
    const known = reason !== undefined && Object.hasOwn(incompleteReasons, reason) ? incompleteReasons[reason] : undefined;
    return { stopReason: known ?? 'output-limit', ...(reason === undefined ? {} : { stopDetail: reason }) };
  }
  if (hasCalls) return { stopReason: 'tool-calls' };
  return { stopReason: hasRefusal ? 'refusal' : 'end' };
}
