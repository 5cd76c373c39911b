import { traitsOfGpt } from '../gpt-traits.ts';
import { openaiAudio } from '../audio-service.ts';
import { openaiEmbeddingsOf } from '../embedding-interfaces.ts';
import { commonReplyHeaders } from '../header-lists.ts';
import { openaiImagesOf } from '../image-interfaces.ts';
import type { ModelKindRule } from '../model-kind-rules.ts';
import { locateOpenaiInterface, openaiRequestHeaders } from '../openai-interfaces.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';

const responsesPaths = { generate: '/responses', compact: '/responses/compact', 'count-tokens': '/responses/input_tokens' } as const;

/** Source: the vendor's list of models, November 2026. */
const modelKinds: readonly ModelKindRule[] = [
  { names: /^tts-|^gpt-.*tts/, kinds: ['speech'] },
  { names: /^whisper|transcribe/, kinds: ['transcription'] },
  { names: /^sora/, kinds: ['video'] },
  { names: /^text-embedding/, kinds: ['embeddings'] },
  { names: /^(?:omni|text)-moderation/, kinds: ['moderation'] },
  { names: /^(?:chat)?gpt-image|^dall-e/, kinds: ['image'] },
  { names: /^(?:chatgpt|gpt|o\d|codex|computer-use)-?/, kinds: ['chat'] },
];

/** OpenAI's own service. The base address of its SDK ends in `/v1`. */
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
  services: {
    embeddings: openaiEmbeddingsOf,
    moderations: '/moderations',
    images: openaiImagesOf,
    audio: openaiAudio,
    videos: 'openai-videos',
  },
  modelKinds,
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  requestHeaders: openaiRequestHeaders,
  // Its SDKs send a key with each retry.
  takesIdempotencyKeys: true,
  replyHeaders: [...commonReplyHeaders, 'openai-model', 'openai-processing-ms', 'openai-version'],
  traitsOf: traitsOfGpt,
  proofsBelongTo: 'vendor',
  probePath: '/models',
  keysUrl: 'https://platform.openai.com/api-keys',
};
