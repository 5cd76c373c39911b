import { GatewayError } from '../../../inference/gateway-error.ts';

/** What an endpoint needs a model for. */
export type ServedKind = 'speech' | 'transcription' | 'video' | 'embeddings' | 'chat' | 'image' | 'rerank' | 'moderation';

/** What a model is known to be made for: one thing, or two. */
export type ModelKind = ServedKind | 'chat-and-image';

/** Whether a model of a kind serves the endpoint of another. */
export function servesAs(own: ModelKind, asked: ServedKind): boolean {
  return own === asked || (own === 'chat-and-image' && (asked === 'chat' || asked === 'image'));
}

type Rule = { readonly names: RegExp; readonly kind: ModelKind };

/** By the vendors' lists of models, November 2026: the first rule that fits. What fits none may be of any kind, as models are that came later. */
const openaiRules: readonly Rule[] = [
  { names: /^tts-|^gpt-.*tts/, kind: 'speech' },
  { names: /^whisper|transcribe/, kind: 'transcription' },
  { names: /^sora/, kind: 'video' },
  { names: /^text-embedding/, kind: 'embeddings' },
  { names: /^(?:omni|text)-moderation/, kind: 'moderation' },
  { names: /^(?:chat)?gpt-image|^dall-e/, kind: 'image' },
  { names: /^(?:chatgpt|gpt|o\d|codex|computer-use)-?/, kind: 'chat' },
];
const rules: Readonly<Record<string, readonly Rule[]>> = {
  openai: openaiRules,
  xai: [
    { names: /imagine-video/, kind: 'video' },
    { names: /imagine|image/, kind: 'image' },
    { names: /^grok/, kind: 'chat' },
  ],
  gemini: [
    { names: /^veo/, kind: 'video' },
    { names: /embedding/, kind: 'embeddings' },
    { names: /^imagen/, kind: 'image' },
    { names: /^gemini-.*image/, kind: 'chat-and-image' },
    { names: /^gem/, kind: 'chat' },
  ],
  anthropic: [{ names: /^claude/, kind: 'chat' }],
};

/** What a vendor's model is made for; undefined where that is not known, as of every model of one's own servers. */
export function modelKindOf(vendor: string, upstreamModel: string): ModelKind | undefined {
  const name = upstreamModel.toLowerCase().replace(/^ft:/, '');
  return rules[vendor]?.find(({ names }) => names.test(name))?.kind;
}

const words: Readonly<Record<ModelKind, string>> = {
  speech: 'reads texts out',
  transcription: 'writes speech down',
  video: 'makes videos',
  embeddings: 'makes embeddings',
  chat: 'writes texts',
  image: 'makes pictures',
  'chat-and-image': 'writes texts and makes pictures',
  rerank: 'ranks documents',
  moderation: 'judges content',
};
const endpoints: Readonly<Record<ModelKind, string>> = {
  speech: 'ask for it at POST /v1/audio/speech',
  transcription: 'ask for it at POST /v1/audio/transcriptions',
  video: 'ask for it at POST /v1/videos',
  embeddings: 'ask for it at POST /v1/embeddings',
  chat: 'ask for it at POST /v1/messages, /v1/responses, /v1/chat/completions or /v1beta/models/*',
  image: 'ask for it at POST /v1/images/generations',
  'chat-and-image': 'ask for it at POST /v1/images/generations or where chats are',
  rerank: 'ask for it at POST /v1/rerank',
  moderation: 'ask for it at POST /v1/moderations',
};

/** The error for a model that is asked for what it is not made for. It would be charged by what it has no price for, if its vendor answered at all. */
export function describeOtherKind(requestedModel: string, own: ModelKind, asked: ServedKind): GatewayError {
  const message = `model: ${requestedModel.slice(0, 256)} ${words[own]}; ${endpoints[own]}, or name a model here that ${words[asked]}`;
  const internal = `asked for as a model of the kind ${asked}; models.<name>.kind says otherwise what a model is for`;
  return new GatewayError('no_suitable_target', message, { param: 'model', internal });
}
