import type { InferenceReply, StopReason } from '../../../inference/inference-reply.ts';
import { meaningOf, membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { readErrorObject } from '../read-reply.ts';

type Ending = Pick<InferenceReply, 'stopReason' | 'stopDetail'>;

const incompleteReasons: Readonly<Record<string, StopReason>> = {
  max_output_tokens: 'output-limit',
  max_tokens: 'output-limit',
  length: 'output-limit',
  content_filter: 'refusal',
};

/** Why a response ended: from its status, and for `completed` from its content. */
export function decodeEnding(
  response: JsonObject,
  { hasCalls, hasRefusal }: { readonly hasCalls: boolean; readonly hasRefusal: boolean },
): Ending {
  const { status } = response;
  if (status === 'failed' || status === 'cancelled') {
    return {
      stopReason: 'failed',
      stopDetail: status === 'failed' ? readErrorObject(response.error).message : 'The response was cancelled.',
    };
  }
  if (status === 'incomplete') {
    const reason = textOf(membersOf(response.incomplete_details).reason);
    const stopReason = meaningOf(reason, incompleteReasons);
    return { stopReason: stopReason ?? 'output-limit', ...(reason === undefined ? {} : { stopDetail: reason }) };
  }
  if (hasCalls) return { stopReason: 'tool-calls' };
  return { stopReason: hasRefusal ? 'refusal' : 'end' };
}

/** The vendor's members for the end of a response. */
export type ResponseEnding = {
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter';
  readonly error?: JsonObject;
};

/** Writes why a reply ended. A refusal with text is an answer; a refusal without text is a missing answer. */
export function encodeEnding({ stopReason, stopDetail }: Ending, hasRefusal: boolean): ResponseEnding {
  switch (stopReason) {
    case 'end':
    case 'stop-sequence':
    case 'tool-calls':
      return { status: 'completed' };
    case 'output-limit':
    case 'context-limit':
    case 'pause':
      return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
    case 'refusal':
      return hasRefusal ? { status: 'completed' } : { status: 'incomplete', incompleteReason: 'content_filter' };
    case 'failed':
      return { status: 'failed', error: { code: 'server_error', message: stopDetail ?? 'The model could not finish its reply.' } };
  }
}
