import type { FieldNames } from '../../../inference/translation-notes.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { ChatCodec } from '../../chat-codec.ts';
import { decodeError } from './decode-error.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeCountRequest, encodeRequest } from './encode-request.ts';
import { encodeUsage } from './encode-usage.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createEventEncoder } from './event-encoder.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';

const fieldNames: FieldNames = {
  instructions: 'system',
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  outputTokensMax: 'max_tokens',
  stopSequences: 'stop_sequences',
  outputFormat: 'output_config.format',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  reasoning: 'thinking',
  endUser: 'metadata.user_id',
  serviceTier: 'service_tier',
  verbosity: undefined,
  turns: 'messages',
};

/** Messages to and from the neutral form. */
export const anthropicMessagesCodec: ChatCodec = {
  fieldNames,
  decodeRequest,
  encodeRequest,
  encodeCountRequest,
  decodeCount: (reply) => {
    const count = isJsonObject(reply) ? reply.input_tokens : undefined;
    return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
  },
  encodeCount: (inputTokens) => ({ input_tokens: inputTokens }),
  decodeReply,
  encodeReply,
  createEventDecoder,
  createEventEncoder,
  encodeUsage,
  decodeError,
  removeForeignProofs,
  saysFailure: false,
};
