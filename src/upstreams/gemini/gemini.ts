import { commonReplyHeaders, commonRequestHeaders } from '../header-lists.ts';
import type { ImageInterface } from '../image-interfaces.ts';
import type { ModelKindRule } from '../model-kind-rules.ts';
import type { UpstreamRoute, UpstreamVendor } from '../upstream-vendor.ts';
import { traitsOfGemini } from './model-traits.ts';

/** `gemini-x` and `models/gemini-x` name the same model; tuned models keep their own collection. */
function modelPath(model: string): string {
  const named = model.includes('/') ? model : `models/${model}`;
  return named
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/');
}

function locate({ dialect, operation, upstreamModel, framing }: UpstreamRoute): string | undefined {
  if (dialect !== 'gemini-generate-content') return undefined;
  const model = `/v1beta/${modelPath(upstreamModel)}`;
  if (operation === 'count-tokens') return `${model}:countTokens`;
  if (framing === undefined) return `${model}:generateContent`;
  return framing === 'sse' ? `${model}:streamGenerateContent?alt=sse` : `${model}:streamGenerateContent`;
}

/** Imagen has a method of its own, and is billed by the picture; the other models write pictures as parts of a reply. */
function imagesOf(upstreamModel: string): ImageInterface {
  const model = `/v1beta/${modelPath(upstreamModel)}`;
  if (/^(?:models\/)?imagen/.test(upstreamModel)) return { form: 'imagen', counting: 'by-piece', path: () => `${model}:predict` };
  return { form: 'gemini', counting: 'native', path: () => `${model}:generateContent` };
}

/** By the vendor's list of models, November 2026. */
const modelKinds: readonly ModelKindRule[] = [
  { names: /^veo/, kinds: ['video'] },
  { names: /embedding/, kinds: ['embeddings'] },
  { names: /^imagen/, kinds: ['image'] },
  { names: /^gemini-.*image/, kinds: ['chat', 'image'] },
  { names: /^gem/, kinds: ['chat'] },
];

/** Google's Gemini API. Its SDK takes the origin as base address and adds the version. The key goes in a header, never in the address. */
export const gemini: UpstreamVendor = {
  id: 'gemini',
  title: 'Gemini',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  dialects: ['gemini-generate-content'],
  optionalDialects: [],
  offers: [],
  locate,
  services: { images: imagesOf },
  modelKinds,
  credentialHeaders: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  // `x-server-timeout` stays here: a client could make the upstream give up any call, which would look like its failure.
  requestHeaders: [...commonRequestHeaders, 'x-goog-api-client'],
  replyHeaders: [...commonReplyHeaders, 'x-gemini-*'],
  traitsOf: traitsOfGemini,
  proofsBelongTo: 'vendor',
  probePath: '/v1beta/models',
  keysUrl: 'https://aistudio.google.com/apikey',
};
