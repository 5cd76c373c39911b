import { anthropic } from './anthropic/anthropic.ts';
import { azure } from './azure/azure.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { claudeAws } from './claude-aws/claude-aws.ts';
import { claudeGoogle } from './claude-google/claude-google.ts';
import { foundry } from './foundry/foundry.ts';
import { gemini } from './gemini/gemini.ts';
import { openaiCompatible } from './openai-compatible/openai-compatible.ts';
import { openai } from './openai/openai.ts';
import type { UpstreamVendor, VendorId } from './upstream-vendor.ts';
import { vertex } from './vertex/vertex.ts';
import { xai } from './xai/xai.ts';

/** Every kind of upstream, by its name in the configuration. */
export const upstreamVendors: Readonly<Record<VendorId, UpstreamVendor>> = {
  anthropic,
  openai,
  gemini,
  xai,
  bedrock,
  vertex,
  azure,
  foundry,
  'claude-aws': claudeAws,
  'claude-google': claudeGoogle,
  'openai-compatible': openaiCompatible,
};
