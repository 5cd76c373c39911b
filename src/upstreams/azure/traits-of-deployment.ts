import type { ModelTraits } from '../../inference/model-traits.ts';
import { traitsOfGpt } from '../gpt-traits.ts';
import { usualChatTraits } from '../usual-chat-traits.ts';

/** Models of other makers that Foundry deploys: DeepSeek, Llama, Mistral, Grok, Phi and others. */
const others = /^(?:deepseek|llama|meta-|mistral|codestral|ministral|grok|phi|cohere|command|kimi|qwen|gpt-oss|model-router)/i;

/** What such models have in common at Azure's chat completions. */
const usual: ModelTraits = {
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

/**
 * Traits of the model behind a deployment: those of OpenAI's models, without the tools that Azure runs under names of
 * its own. @param model the model that `is` names, else the name of the deployment
 */
export function traitsOfDeployment(model: string): ModelTraits {
  if (others.test(model)) return usual;
  const { fileSearch: _, ...traits } = traitsOfGpt(model);
  return { ...traits, webSearch: false, codeExecution: false, imageGeneration: false };
}
