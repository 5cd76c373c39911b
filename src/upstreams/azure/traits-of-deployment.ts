import type { ModelTraits } from '../../inference/model-traits.ts';
import { traitsOfGpt } from '../gpt-traits.ts';
import { usualServerTraits } from '../usual-server-traits.ts';

/** Models of other makers that Foundry deploys: DeepSeek, Llama, Mistral, Grok, Phi and others. */
const others = /^(?:deepseek|llama|meta-|mistral|codestral|ministral|grok|phi|cohere|command|kimi|qwen|gpt-oss|model-router)/i;

/**
 * Traits of the model behind a deployment: those of OpenAI's models, without the tools that Azure runs under names of
 * its own. @param model the model that `is` names, else the name of the deployment
 */
export function traitsOfDeployment(model: string): ModelTraits {
  if (others.test(model)) return usualServerTraits;
  const { fileSearch: _, ...traits } = traitsOfGpt(model);
  return { ...traits, webSearch: false, codeExecution: false, imageGeneration: false };
}
