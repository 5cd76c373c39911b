type KindFacts = {
  /** What a model of the kind does, as messages say it. */
  readonly does: string;
  /** Where it is asked for. */
  readonly askedAt: string;
};

/** What models are made for. Where clients name a model, the endpoint says of which kind it has to be. */
export const modelKinds = {
  chat: { does: 'writes texts', askedAt: 'POST /v1/messages, /v1/responses, /v1/chat/completions or /v1beta/models/*' },
  embeddings: { does: 'makes embeddings', askedAt: 'POST /v1/embeddings' },
  image: { does: 'makes pictures', askedAt: 'POST /v1/images/generations, or with responseModalities at POST /v1beta/models/*' },
  speech: { does: 'reads texts out', askedAt: 'POST /v1/audio/speech' },
  transcription: { does: 'writes speech down', askedAt: 'POST /v1/audio/transcriptions' },
  video: { does: 'makes videos', askedAt: 'POST /v1/videos' },
  rerank: { does: 'ranks documents', askedAt: 'POST /v1/rerank' },
  moderation: { does: 'judges content', askedAt: 'POST /v1/moderations' },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type ModelKind = keyof typeof modelKinds;

// The keys are those of the table.
export const modelKindNames = Object.keys(modelKinds) as readonly ModelKind[];

type InterfaceFacts = {
  /** As what vendors account for its calls. Calls of chats are `completions`. */
  readonly account: string;
  /**
   * What it does, in the words of OpenTelemetry's conventions for generative AI: `generate_content` is theirs for content of any kind. Where they have none,
   * one of one's own is allowed.
   */
  readonly operation: string;
};

/**
 * Interfaces that are no chats, by the name that logs, metrics and the books have for them: those of clients, and those that an upstream is spoken to in. Chats are
 * those of `dialects/registry.ts`. A request for a video is `video-tasks` in logs whatever its form, which is only known when its body is read; its row names the form.
 */
export const interfaces = {
  'openai-embeddings': { account: 'embeddings', operation: 'embeddings' },
  'openai-audio': { account: 'audio', operation: 'generate_content' },
  'openai-images': { account: 'images', operation: 'generate_content' },
  'xai-images': { account: 'images', operation: 'generate_content' },
  'imagen-predict': { account: 'images', operation: 'generate_content' },
  'video-tasks': { account: 'videos', operation: 'generate_content' },
  'video-generations': { account: 'videos', operation: 'generate_content' },
  'openai-videos': { account: 'videos', operation: 'generate_content' },
  'xai-videos': { account: 'videos', operation: 'generate_content' },
  rerank: { account: 'rankings', operation: 'rerank' },
  'rerank-cohere': { account: 'rankings', operation: 'rerank' },
  'rerank-jina': { account: 'rankings', operation: 'rerank' },
  'rerank-voyage': { account: 'rankings', operation: 'rerank' },
  'rerank-vllm': { account: 'rankings', operation: 'rerank' },
  'openai-moderations': { account: 'moderations', operation: 'moderation' },
} as const satisfies Readonly<Record<string, InterfaceFacts>>;

export type InterfaceId = keyof typeof interfaces;

/** Kinds of calls, as far as vendors account for them apart. */
export type AccountKind = (typeof interfaces)[InterfaceId]['account'] | 'completions';

/** As what vendors account for the calls of an interface: what is none of the table is a chat. */
export function accountKindOf(name: string): AccountKind {
  return isInterface(name) ? interfaces[name].account : 'completions';
}

function isInterface(name: string): name is InterfaceId {
  return Object.hasOwn(interfaces, name);
}
