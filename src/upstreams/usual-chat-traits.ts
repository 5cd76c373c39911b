import type { ChatTraits } from '../inference/model-traits.ts';

/**
 * Features that servers of chat completions usually accept. Vendors without that dialect have these traits too, and
 * nobody reads them there.
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
