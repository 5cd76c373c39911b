import type { EmbeddingInterface } from '../embedding-interfaces.ts';
import { generateContentModelPath, locateGenerateContent } from '../generate-content-interface.ts';
import { commonReplyHeaders, commonRequestHeaders } from '../header-lists.ts';
import type { ImageInterface } from '../image-interfaces.ts';
import type { ModelKindRule } from '../model-kind-rules.ts';
import type { UpstreamVendor } from '../upstream-vendor.ts';
import { traitsOfGemini } from '../gemini-traits.ts';

/** Imagen has its own method and is billed per image. The other models write images as parts of a reply. */
function imagesOf(upstreamModel: string): ImageInterface {
  if (/^(?:models\/)?imagen/.test(upstreamModel)) return { form: 'imagen', counting: 'by-piece', path: () => ':predict' };
  return { form: 'gemini', counting: 'native', path: () => ':generateContent' };
}

// At most 100 requests can be in one batch (the vendor's refusal of more).
const embeddings: EmbeddingInterface = { form: 'gemini-batch', path: ':batchEmbedContents', textsMax: 100 };

/** Source: the vendor's list of models, November 2026. */
const modelKinds: readonly ModelKindRule[] = [
  { names: /^veo/, kinds: ['video'] },
  { names: /embedding/, kinds: ['embeddings'] },
  { names: /^imagen/, kinds: ['image'] },
  { names: /^gemini-.*image/, kinds: ['chat', 'image'] },
  { names: /^gem/, kinds: ['chat'] },
];

/**
 * Google's Gemini API. The base address of its SDK is the origin, and the SDK adds the version. The key is in a header,
 * never in the address.
 */
export const gemini: UpstreamVendor = {
  id: 'gemini',
  title: 'Gemini',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  dialects: ['gemini-generate-content'],
  optionalDialects: [],
  offers: [],
  locate: locateGenerateContent,
  placeService: (path, upstreamModel) => (path.startsWith(':') ? `/v1beta/${generateContentModelPath(upstreamModel)}${path}` : path),
  services: { embeddings: () => embeddings, images: imagesOf, videos: 'gemini-videos' },
  modelKinds,
  credentialHeaders: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  // `x-server-timeout` is not forwarded: a client could make the upstream end any call, which would look like the
  // upstream's failure.
  requestHeaders: [...commonRequestHeaders, 'x-goog-api-client'],
  replyHeaders: [...commonReplyHeaders, 'x-gemini-*'],
  traitsOf: traitsOfGemini,
  proofsBelongTo: 'vendor',
  probePath: '/v1beta/models',
  keysUrl: 'https://aistudio.google.com/apikey',
};
