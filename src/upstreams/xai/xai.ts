import type { UsageReport } from '../../inference/usage.ts';
import { commonReplyHeaders } from '../header-lists.ts';
import { xaiImagesOf } from '../image-interfaces.ts';
import { locateOpenaiInterface, openaiRequestHeaders } from '../openai-interfaces.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { traitsOfGrok } from './model-traits.ts';

/**
 * Corrects reasoning tokens: xAI's chat completions count them in addition to `completion_tokens`, not as a part. The
 * total shows which arithmetic a reply used, so the correction stays right if the vendor changes it.
 */
function correctUsage(report: UsageReport): UsageReport {
  const { usage, raw } = report;
  const { reasoningTokens, outputTokens } = usage;
  if (reasoningTokens === undefined || reasoningTokens === 0 || outputTokens === undefined) return report;
  const totals = raw as { readonly prompt_tokens?: unknown; readonly total_tokens?: unknown };
  if (typeof totals.prompt_tokens !== 'number' || totals.total_tokens !== totals.prompt_tokens + outputTokens + reasoningTokens)
    return report;
  return { ...report, usage: { ...usage, outputTokens: outputTokens + reasoningTokens } };
}

/** xAI's service. It speaks OpenAI's interfaces. The base address of its SDKs ends in `/v1`. */
export const xai: UpstreamVendor = {
  id: 'xai',
  title: 'xAI',
  defaultBaseUrl: 'https://api.x.ai/v1',
  keyVariables: ['XAI_API_KEY'],
  dialects: ['openai-responses', 'openai-chat'],
  optionalDialects: [],
  offers: [],
  keepsResponses: true,
  locate: locateOpenaiInterface,
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  requestHeaders: [...openaiRequestHeaders, 'x-grok-*'],
  replyHeaders: [...commonReplyHeaders, 'x-metrics-*'],
  correctUsage: (report, dialect) => (dialect === 'openai-chat' ? correctUsage(report) : report),
  traitsOf: traitsOfGrok,
  proofsBelongTo: 'vendor',
  services: { images: xaiImagesOf, videos: 'xai-videos' },
  // Source: the vendor's list of models, November 2026.
  modelKinds: [
    { names: /imagine-video/, kinds: ['video'] },
    { names: /imagine|image/, kinds: ['image'] },
    { names: /^grok/, kinds: ['chat'] },
  ],
  probePath: '/models',
  keysUrl: 'https://console.x.ai',
};
