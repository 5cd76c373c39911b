import { openaiAudio } from '../audio-service.ts';
import { openaiEmbeddingsOf } from '../embedding-interfaces.ts';
import { commonReplyHeaders } from '../header-lists.ts';
import { openaiImagesOf } from '../image-interfaces.ts';
import { locateOpenaiInterface, openaiRequestHeaders } from '../openai-interfaces.ts';
import type { UpstreamRoute } from '../upstream-route.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { serverPresets } from './server-presets.ts';
import { usualServerTraits } from '../usual-server-traits.ts';

/** Returns the paths of the additional interfaces that some servers have, below a base address that ends in `/v1`. */
function locate(route: UpstreamRoute): string | undefined {
  if (route.dialect !== 'anthropic-messages') return locateOpenaiInterface(route);
  return route.operation === 'count-tokens' ? '/messages/count_tokens' : '/messages';
}

/**
 * Any server that speaks chat completions: vLLM, Ollama, llama.cpp, LM Studio and many services. Some also serve
 * Responses or Messages; the operator states that with `dialects`.
 */
export const openaiCompatible: UpstreamVendor = {
  id: 'openai-compatible',
  title: 'OpenAI-compatible server',
  keyVariables: [],
  dialects: ['openai-chat'],
  optionalDialects: ['openai-responses', 'anthropic-messages'],
  offers: [],
  locate,
  services: { embeddings: openaiEmbeddingsOf, images: openaiImagesOf, audio: openaiAudio },
  credentialHeaders: (apiKey, dialect) =>
    dialect === 'anthropic-messages' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${apiKey}` },
  requestHeaders: [...openaiRequestHeaders, 'anthropic-version', 'anthropic-beta'],
  headerAliases: { 'vendor-version': 'anthropic-version', 'vendor-beta': 'anthropic-beta' },
  replyHeaders: commonReplyHeaders,
  traitsOf: () => usualServerTraits,
  proofsBelongTo: 'upstream',
  probePath: '/models',
  modelListPath: '/models',
  answersLate: true,
  presets: serverPresets,
};
