import type { ChatTraits } from '../inference/model-traits.ts';

/**
 * What servers of chat completions usually take. It stands as well where a vendor speaks other dialects only, and there nobody reads it.
 */
export const usualChatTraits: ChatTraits = {
  outputLimitField: 'max_tokens',
  systemRole: 'system',
  streamOptions: true,
  parallelToolCallsField: true,
  forcedToolChoice: true,
  reasoningField: 'reasoning_effort',
  acceptsTopK: false,
  acceptsLogprobs: true,
};
