import type { ModelTraits } from '../../inference/model-traits.ts';
import { authorizeWithBearer } from '../authorize-with-bearer.ts';
import { traitsOfClaude } from '../claude-traits.ts';
import { traitsOfGemini } from '../gemini-traits.ts';
import { commonReplyHeaders, commonRequestHeaders } from '../header-lists.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { adviseAboutVertex } from './advise-about-vertex.ts';
import { readVertexRefusal } from './read-vertex-refusal.ts';
import { reshapeForVertex } from './reshape-for-vertex.ts';
import { addressOfLocation, addressOfObject, dialectsAtVertex, locateAtVertex, placeAtVertex } from './vertex-paths.ts';
import { embeddingsAtVertex, imagesAtVertex } from './vertex-services.ts';

/** Claude there has no native structured output (Vercel's google-vertex provider, August 2026). */
function traitsAtVertex(model: string): ModelTraits {
  if (model.startsWith('claude')) return { ...traitsOfClaude(model.replace('@', '-')), structuredOutput: false, fetchesUrls: false };
  return traitsOfGemini(model);
}

/**
 * Google's Vertex AI: Gemini and its tuned models, Claude, and models of other publishers with chat completions.
 * Sources: Anthropic's vertex-sdk 1.1.3, Google's genai SDK 2.32.0, and the documentation of both vendors.
 */
export const vertex: UpstreamVendor = {
  id: 'vertex',
  title: 'Vertex AI',
  addressOf: addressOfLocation,
  facts: ['project', 'location', 'betas', 'videoBucket'],
  credentialKinds: ['google'],
  usualCredential: { kind: 'google' },
  keyVariables: [],
  dialects: ['gemini-generate-content', 'anthropic-messages', 'openai-chat'],
  dialectsOf: dialectsAtVertex,
  optionalDialects: [],
  offers: [],
  locate: locateAtVertex,
  reshape: reshapeForVertex,
  readRefusal: readVertexRefusal,
  adviseOperator: (refusal) => adviseAboutVertex(refusal),
  placeService: placeAtVertex,
  locateObject: addressOfObject,
  services: { embeddings: embeddingsAtVertex, images: imagesAtVertex, videos: 'vertex-videos' },
  modelKinds: [
    { names: /^(?:veo)/, kinds: ['video'] },
    { names: /embedding/, kinds: ['embeddings'] },
    { names: /^imagen/, kinds: ['image'] },
    { names: /^gemini-.*image/, kinds: ['chat', 'image'] },
    { names: /^(?:claude|gemini|gemma)/, kinds: ['chat'] },
  ],
  authorize: authorizeWithBearer,
  credentialHeaders: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  requestHeaders: [...commonRequestHeaders, 'anthropic-beta', 'x-goog-api-client'],
  headerAliases: { 'vendor-beta': 'anthropic-beta' },
  replyHeaders: [...commonReplyHeaders, 'x-vertex-*'],
  traitsOf: traitsAtVertex,
  proofsBelongTo: 'vendor',
  proofGroupOf: (model) => (model.startsWith('claude') ? 'anthropic' : undefined),
  makers: ['gemini', 'anthropic'],
  modelBehind: (model) => model.replace('@', '-').replace(/^.*\//, ''),
  servedIn: (_model, { location = 'global' }) => location,
  probePath: '/v1beta1/publishers/google/models',
  keysUrl: 'https://console.cloud.google.com/vertex-ai',
};
