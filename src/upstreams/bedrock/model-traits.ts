import type { ModelTraits } from '../../inference/model-traits.ts';
import { traitsOfClaude } from '../claude-traits.ts';
import { traitsOfGpt } from '../gpt-traits.ts';
import { traitsOfConverse } from './converse-models.ts';
import { hasMessages, isConversed, readModelName } from './model-names.ts';

/**
 * The differences of a model at Bedrock from the same model at its maker: no tools that the server runs, and nothing is
 * fetched from addresses. Source: vercel/ai, packages/amazon-bedrock; "supported features" of the user guide.
 */
const withoutServices = {
  webSearch: false,
  codeExecution: false,
  urlContext: false,
  fileSearch: false,
  imageGeneration: false,
  fetchesUrls: false,
} as const;

/** The traits of a model by its name at Bedrock, or by its maker's own name. */
export function traitsOfBedrock(upstreamModel: string): ModelTraits {
  const { base, maker, ownName = upstreamModel } = readModelName(upstreamModel);
  if (base !== undefined && isConversed(maker)) return traitsOfConverse(base);
  if (maker === 'openai') return { ...traitsOfGpt(ownName), ...withoutServices };
  const claude = { ...traitsOfClaude(ownName), ...withoutServices };
  // `output_config.format` and `strict` are refused since Opus 4.7.
  return hasMessages(ownName) ? { ...claude, structuredOutput: false } : claude;
}
