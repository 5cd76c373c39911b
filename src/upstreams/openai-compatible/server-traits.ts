import type { ModelTraits } from '../../inference/model-traits.ts';

/**
 * What is taken for granted of a server of which nothing is known: what the servers of docs/guide/configure.md have in common, and nothing that a strict
 * one would refuse. Being asked to think is such a thing: several refuse it for models that cannot, and coding agents ask for it always. Models that
 * think by themselves go on doing so.
 */
export const usualServerTraits: ModelTraits = {
  reasoning: 'none',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: false,
  imagesInToolResults: false,
  prefill: false,
  webSearch: false,
  codeExecution: false,
  mixesTools: true,
  requiresProofs: false,
  chat: {
    outputLimitField: 'max_tokens',
    systemRole: 'system',
    streamOptions: true,
    parallelToolCallsField: true,
    forcedToolChoice: true,
    reasoningField: 'reasoning_effort',
    acceptsTopK: false,
  },
};
