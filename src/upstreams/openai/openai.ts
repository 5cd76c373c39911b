import { commonReplyHeaders } from '../header-lists.ts';
import { openaiImagesOf } from '../image-interfaces.ts';
import { locateOpenaiInterface, openaiRequestHeaders } from '../openai-interfaces.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { traitsOfGpt } from './model-traits.ts';

const responsesPaths = { generate: '/responses', compact: '/responses/compact', 'count-tokens': '/responses/input_tokens' } as const;

/** OpenAI's own service. Its SDK's base address ends in `/v1`. */
export const openai: UpstreamVendor = {
  id: 'openai',
  title: 'OpenAI',
  defaultBaseUrl: 'https://api.openai.com/v1',
  keyVariables: ['OPENAI_API_KEY'],
  dialects: ['openai-responses', 'openai-chat'],
  optionalDialects: [],
  offers: [],
  keepsResponses: true,
  compacts: true,
  locate: (route) => {
    if (route.dialect !== 'openai-responses') return locateOpenaiInterface(route);
    return responsesPaths[route.operation];
  },
  embeddingsPath: '/embeddings',
  moderationsPath: '/moderations',
  imagesOf: openaiImagesOf,
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  requestHeaders: openaiRequestHeaders,
  // Its SDKs send a key with what they repeat.
  takesIdempotencyKeys: true,
  replyHeaders: [...commonReplyHeaders, 'openai-model', 'openai-processing-ms', 'openai-version'],
  traitsOf: traitsOfGpt,
  proofsBelongTo: 'vendor',
  videoProtocol: 'openai-videos',
  audioPaths: { speech: '/audio/speech', transcriptions: '/audio/transcriptions', translations: '/audio/translations' },
  probePath: '/models',
  keysUrl: 'https://platform.openai.com/api-keys',
};
