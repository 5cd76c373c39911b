import { commonReplyHeaders } from '../header-lists.ts';
import { xaiImagesOf } from '../image-interfaces.ts';
import { locateOpenaiInterface, openaiRequestHeaders } from '../openai-interfaces.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { traitsOfGrok } from './model-traits.ts';

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
