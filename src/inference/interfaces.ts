type KindFacts = {
  /** What a model of this kind does, for messages. */
  readonly does: string;
  /** The endpoint that serves it, for messages. */
  readonly askedAt: string;
};

/** The kinds of models. Each endpoint states the kind of the model that a client names there. */
export const modelKinds = {
  chat: { does: 'writes texts', askedAt: 'POST /v1/messages, /v1/responses, /v1/chat/completions or /v1beta/models/*' },
  embeddings: { does: 'makes embeddings', askedAt: 'POST /v1/embeddings' },
  image: { does: 'makes images', askedAt: 'POST /v1/images/generations, or with responseModalities at POST /v1beta/models/*' },
  speech: { does: 'turns text into speech', askedAt: 'POST /v1/audio/speech' },
  transcription: { does: 'transcribes speech', askedAt: 'POST /v1/audio/transcriptions' },
  video: { does: 'makes videos', askedAt: 'POST /v1/videos' },
  rerank: { does: 'ranks documents', askedAt: 'POST /v1/rerank' },
  moderation: { does: 'moderates content', askedAt: 'POST /v1/moderations' },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type ModelKind = keyof typeof modelKinds;

// The keys are those of the table.
export const modelKindNames = Object.keys(modelKinds) as readonly ModelKind[];

type InterfaceFacts = {
  /** The name under which vendors account for its calls. Calls of chats are `completions`. */
  readonly account: string;
  /**
   * The operation, as OpenTelemetry's conventions for generative AI name it. Their name for content of any kind is
   * `generate_content`. Where they have no name, the conventions allow an own name.
   */
  readonly operation: string;
};

/**
 * Interfaces that are not chats, under the name that logs, metrics and the books use. Clients or upstreams speak them.
 * The interfaces of chats are in `dialects/registry.ts`. Logs call every request for a video `video-tasks`, because its
 * form is only known after its body was read; the form is in its row.
 */
export const interfaces = {
  'openai-embeddings': { account: 'embeddings', operation: 'embeddings' },
  'google-embeddings': { account: 'embeddings', operation: 'embeddings' },
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

/** Kinds of calls that vendors account for separately. */
export type AccountKind = (typeof interfaces)[InterfaceId]['account'] | 'completions';

/** Returns the account of the calls of an interface. An interface that is not in the table is a chat. */
export function accountKindOf(name: string): AccountKind {
  return isInterface(name) ? interfaces[name].account : 'completions';
}

function isInterface(name: string): name is InterfaceId {
  return Object.hasOwn(interfaces, name);
}
