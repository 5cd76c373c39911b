import { GatewayError } from '../../inference/gateway-error.ts';
import type { Target } from './routing-table.ts';

/** What a model is made for. */
export type ModelKind = 'speech' | 'transcription' | 'video' | 'embeddings' | 'chat' | 'images';

type Rule = { readonly names: RegExp; readonly kind: ModelKind };

/** By the vendors' lists of models, November 2026: the first rule that fits. What fits none may be of any kind, as models are that came later. */
const openaiRules: readonly Rule[] = [
  { names: /^tts-|^gpt-.*tts/, kind: 'speech' },
  { names: /^whisper|transcribe/, kind: 'transcription' },
  { names: /^sora/, kind: 'video' },
  { names: /^text-embedding/, kind: 'embeddings' },
  { names: /^(?:chat)?gpt-image|^dall-e/, kind: 'images' },
  { names: /^(?:chatgpt|gpt|o\d|codex|computer-use)-?/, kind: 'chat' },
];
const rules: Readonly<Record<string, readonly Rule[]>> = {
  openai: openaiRules,
  xai: [
    { names: /imagine-video/, kind: 'video' },
    { names: /imagine|image/, kind: 'images' },
    { names: /^grok/, kind: 'chat' },
  ],
  gemini: [
    { names: /^veo/, kind: 'video' },
    { names: /embedding/, kind: 'embeddings' },
    { names: /^imagen/, kind: 'images' },
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
  images: 'makes pictures',
};

/**
 * The targets whose models are of a kind, as far as that is known. A model of another kind would be charged by what it has no price for, if its vendor answered at all.
 * @throws GatewayError (400) where all of them are of another kind
 */
export function keepKind(targets: readonly Target[], kind: ModelKind, requestedModel: string): readonly Target[] {
  const kindOf = ({ upstream, upstreamModel }: Target): ModelKind | undefined => modelKindOf(upstream.vendor.id, upstreamModel);
  const fitting = targets.filter((target) => (kindOf(target) ?? kind) === kind);
  const [first] = targets;
  if (fitting.length > 0 || first === undefined) return fitting;
  const other = words[kindOf(first) ?? kind];
  const message = `model: ${requestedModel.slice(0, 256)} ${other}; name one here that ${words[kind]}`;
  throw new GatewayError('no_suitable_target', message, { param: 'model' });
}
