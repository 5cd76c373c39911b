import type { ChatTraits, ModelTraits } from '../model-traits.ts';

/** Differences of a test's model from a model that supports everything. */
export type TraitDifferences = Partial<Omit<ModelTraits, 'chat'>> & { readonly chat?: Partial<ChatTraits> };

const ableChat: ChatTraits = {
  outputLimitField: 'max_tokens',
  systemRole: 'system',
  streamOptions: true,
  parallelToolCallsField: true,
  forcedToolChoice: true,
  reasoningField: 'reasoning_effort',
  acceptsTopK: false,
  acceptsLogprobs: true,
};

const ableTraits: ModelTraits = {
  reasoning: 'effort',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: true,
  webSearch: true,
  codeExecution: true,
  mixesTools: true,
  requiresProofs: false,
  chat: ableChat,
};

/**
 * A model for tests: it supports everything and is controlled by an effort, except for the differences. Later
 * differences override earlier ones.
 */
export function createFakeTraits(...differences: readonly TraitDifferences[]): ModelTraits {
  return differences.reduce<ModelTraits>(
    (traits, { chat, ...differing }) => ({ ...traits, ...differing, chat: { ...traits.chat, ...chat } }),
    ableTraits,
  );
}
