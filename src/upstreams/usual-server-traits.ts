import type { ModelTraits } from '../inference/model-traits.ts';
import { usualChatTraits } from './usual-chat-traits.ts';

/**
 * The traits of a server about which nothing is known: the common features of the servers in
 * docs/reference/server-presets.md, without anything that a strict server would refuse. A request to think is one such
 * thing: several servers refuse it for models that cannot think, and coding agents always send it. Models that think by
 * default still do so.
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
