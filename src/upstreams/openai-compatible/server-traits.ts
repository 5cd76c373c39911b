import type { ModelTraits } from '../../inference/model-traits.ts';
import { usualChatTraits } from '../usual-chat-traits.ts';

/**
 * What is taken for granted of a server of which nothing is known: what the servers of docs/guide/configure.md have in common, and nothing
 * that a strict one would refuse. Being asked to think is such a thing: several refuse it for models that cannot, and coding agents ask for
 * it always. Models that think by themselves go on doing so.
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
  chat: usualChatTraits,
};
