import { makeWav } from '../audio/start-audio-upstream.ts';
import { type Answer, call, post } from '../support/http.ts';
import { arrayInterface, type ChatInterface, chatInterfaces } from '../support/interfaces.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import { openSocket } from '../websocket/open-socket.ts';

/** The caller of a route, and the gateway's address. */
export type RouteCaller = {
  readonly gatewayUrl: string;
  readonly key: string;
  /** A finished video of the caller's user. */
  readonly video: string;
  /** `x-simulator-*` headers without the prefix. */
  readonly steer?: Readonly<Record<string, string>>;
};

/** The answer: for a socket, its messages as text and the status that its error names. */
export type RouteReply = Pick<Answer, 'status' | 'text' | 'json' | 'headers'>;

/** The format in which a route refuses. */
export type ErrorFamily = 'messages' | 'openai' | 'generate-content' | 'xai-videos' | 'cohere' | 'jina';

/** A way to spend money by one POST, or by one message. */
export type PaidRoute = {
  readonly name: string;
  readonly family: ErrorFamily;
  readonly go: (caller: RouteCaller) => Promise<RouteReply>;
  /** The same as a quote request. */
  readonly quoted: (caller: RouteCaller) => { readonly path: string; readonly body: object };
  /** Set if its reply is a stream without an output limit, which can be cut: how the end of a cut stream looks. */
  readonly cutEnd?: RegExp;
};

const headersOf = ({ key, steer = {} }: RouteCaller): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  ...Object.fromEntries(Object.entries(steer).map(([name, value]) => [`x-simulator-${name}`, value])),
});

/** A caller that sends a version header is answered in the format of Messages. */
const versionOf = (path: string): Record<string, string> => (path.startsWith('/v1/messages') ? { 'anthropic-version': '2023-06-01' } : {});

function posted(name: string, path: string, body: object, more: Partial<PaidRoute> = {}): PaidRoute {
  return {
    name,
    family: 'openai',
    quoted: () => ({ path, body }),
    go: (caller) => post(`${caller.gatewayUrl}${path}`, body, { ...headersOf(caller), ...versionOf(path) }),
    ...more,
  };
}

const cutEnds: Readonly<Record<ChatInterface['dialect'], RegExp>> = {
  'anthropic-messages': /"stop_reason":"max_tokens"[\s\S]*message_stop/,
  'openai-responses': /^event: response\.incomplete/m,
  'openai-chat': /"finish_reason":"length"[\s\S]*\[DONE\]/,
  'gemini-generate-content': /"finishReason":\s*"MAX_TOKENS"/,
};
const families: Readonly<Record<ChatInterface['dialect'], ErrorFamily>> = {
  'anthropic-messages': 'messages',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  'gemini-generate-content': 'generate-content',
};
/** A model of another vendor for each interface, so that its calls are translated. */
const foreign: Readonly<Record<ChatInterface['dialect'], string>> = {
  'anthropic-messages': 'gpt-4.1',
  'openai-responses': 'gemini-2.5-flash-lite',
  'openai-chat': 'claude-sonnet-4-5',
  'gemini-generate-content': 'gpt-4.1',
};

function chatRoute(api: ChatInterface, stream: boolean, model: string): PaidRoute {
  const way = model === foreign[api.dialect] ? 'translated' : 'passthrough';
  const isArray = api === arrayInterface;
  // A Messages request must have an output limit, and its hold covers all of it.
  const isOpen = stream && api.dialect !== 'anthropic-messages';
  return posted(
    `${api.dialect}, ${way}, ${stream ? (isArray ? 'array stream' : 'stream') : 'whole'}`,
    api.path(model, stream),
    api.body(model, 'Hello there', stream),
    { family: families[api.dialect], ...(isOpen ? { cutEnd: cutEnds[api.dialect] } : {}) },
  );
}

const chatRoutes: readonly PaidRoute[] = chatInterfaces.flatMap((api) => {
  // Models without hidden reasoning: all of their output is visible.
  const own = api.dialect === 'openai-responses' ? 'gpt-4.1' : api.model;
  return [own, foreign[api.dialect]].flatMap((model) => [chatRoute(api, false, model), chatRoute(api, true, model)]);
});

const question = { model: 'gpt-4.1', input: 'Search the web for cats' };
const imageTool = { type: 'image_generation', quality: 'low', size: '1024x1024', partial_images: 1 };
const drawing = { model: 'claude-sonnet-4-5', input: 'Draw a red kite', tools: [imageTool] };
const searching = { ...question, tools: [{ type: 'web_search' }] };

async function overSocket({ gatewayUrl, key, steer = {} }: RouteCaller, body: object): Promise<RouteReply> {
  const steering = Object.fromEntries(Object.entries(steer).map(([name, value]) => [`x-simulator-${name}`, value]));
  const socket = await openSocket(gatewayUrl, key, steering);
  socket.create(body);
  const events = await socket.rest();
  await socket.close();
  const last = events.at(-1);
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`).join('\n');
  return { status: last?.type === 'error' ? Number(last['status']) : 200, text, json: last, headers: {} };
}

const responsesRoutes: readonly PaidRoute[] = [
  posted('Responses in the background', '/v1/responses', { ...question, background: true }),
  posted(
    'Responses in the background, followed',
    '/v1/responses',
    { ...question, background: true, stream: true },
    { cutEnd: cutEnds['openai-responses'] },
  ),
  posted('Responses over a WebSocket', '/v1/responses', question, {
    go: (caller) => overSocket(caller, question),
    quoted: () => ({ path: '/v1/responses', body: { ...question, stream: true } }),
    cutEnd: cutEnds['openai-responses'],
  }),
  posted('a tool loop, whole', '/v1/responses', searching),
  posted('a tool loop, stream', '/v1/responses', { ...searching, stream: true }),
  posted('an image of a tool', '/v1/responses', drawing),
  posted('an image of a tool, streamed', '/v1/responses', { ...drawing, stream: true }),
];

/** A form as a client writes it. */
function form(fields: Readonly<Record<string, string>>): { readonly type: string; readonly body: Buffer } {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--cut\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = '--cut\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n';
  return {
    type: 'multipart/form-data; boundary=cut',
    body: Buffer.concat([Buffer.from(parts.join('') + head), makeWav(1), Buffer.from('\r\n--cut--\r\n')]),
  };
}

function uploaded(name: string, path: string, fields: Readonly<Record<string, string>>): PaidRoute {
  const { type, body } = form(fields);
  return {
    name,
    family: 'openai',
    go: (caller) => call(`${caller.gatewayUrl}${path}`, { headers: { ...headersOf(caller), 'content-type': type }, body }),
    quoted: () => ({ path, body: { ...fields, file: { bytes: body.length } } }),
  };
}

const speech = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'hello' };
const audioRoutes: readonly PaidRoute[] = [
  posted('speech', '/v1/audio/speech', speech),
  posted('speech by the character', '/v1/audio/speech', { ...speech, model: 'tts-1' }),
  posted('speech, streamed', '/v1/audio/speech', { ...speech, stream_format: 'sse' }),
  uploaded('a transcription', '/v1/audio/transcriptions', { model: 'whisper-1' }),
  uploaded('a transcription by tokens', '/v1/audio/transcriptions', { model: 'gpt-4o-mini-transcribe' }),
  uploaded('a transcription, streamed', '/v1/audio/transcriptions', { model: 'gpt-4o-transcribe', stream: 'true' }),
  uploaded('a translation of speech', '/v1/audio/translations', { model: 'whisper-1' }),
];

const picture = { model: 'gpt-image-1.5', prompt: 'a red kite', quality: 'low', size: '1024x1024' };
const source1x1 = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const imageRoutes: readonly PaidRoute[] = [
  posted('a picture', '/v1/images/generations', picture),
  posted('a picture, streamed', '/v1/images/generations', { ...picture, stream: true, partial_images: 1 }),
  posted('an image of a native image model', '/v1/images/generations', { ...picture, model: 'gemini-2.5-flash-image' }),
  posted('images by the piece', '/v1/images/generations', { ...picture, model: 'imagen-4.0-generate-001', n: 2 }),
  posted('an edit of an image', '/v1/images/edits', { ...picture, images: [{ image_url: source1x1 }] }),
];

/** The settings that rows of rankings and moderations need besides the vendors. */
export const paidRouteSetup = {
  upstreams: ({ openai }: { readonly openai: string }): Readonly<Record<string, object>> => {
    const { origin } = new URL(openai);
    const server = { vendor: 'openai-compatible', apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
    return {
      units: { ...server, preset: 'cohere', baseUrl: `${origin}/cohere/compatibility/v1` },
      tokens: { ...server, preset: 'jina', baseUrl: `${origin}/jina/v1` },
      judges: { ...server, baseUrl: openai, quirks: { moderations: true } },
    };
  },
  models: {
    'ranker-by-units': { targets: [{ upstream: 'units', model: 'ranker' }], price: { searchUnit: '0.002' } },
    'ranker-by-tokens': { targets: [{ upstream: 'tokens', model: 'ranker' }], price: { input: '1', output: '0' } },
    'priced-judge': { targets: [{ upstream: 'judges', model: 'judge' }], price: { input: '1', output: '0' } },
    'chat-judge': { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] },
  },
  config: { moderations: { standIn: 'chat-judge' } },
} as const;

const ranking = { query: 'the coast', documents: ['a bank', 'the coast'] };
const rankingRoutes: readonly PaidRoute[] = [
  posted('a ranking by search units', '/v2/rerank', { model: 'ranker-by-units', ...ranking }, { family: 'cohere' }),
  posted('a ranking by tokens', '/v1/rerank', { model: 'ranker-by-tokens', ...ranking }, { family: 'jina' }),
];
const moderationRoutes: readonly PaidRoute[] = [
  posted('a moderation', '/v1/moderations', { model: 'priced-judge', input: 'good morning' }),
  posted('a moderation by a chat model', '/v1/moderations', { model: 'chat-judge', input: ['good morning', 'good night'] }),
];

const wish = { model: 'grok-imagine-video', prompt: 'a red kite', duration: 2 };
const videoRoutes: readonly PaidRoute[] = [
  posted('a video', '/v1/video/generations', wish),
  posted('a video, in the form of a list of contents', '/v1/videos', { ...wish, metadata: { resolution: '480p' } }),
  posted("a video, in OpenAI's form", '/v1/videos', { model: 'sora-2', prompt: 'a red kite', seconds: '4', size: '1280x720' }),
  posted("a video, in xAI's form", '/v1/videos/generations', wish, { family: 'xai-videos' }),
];

/** Changes to an existing video. */
function changed(name: string, family: ErrorFamily, path: (video: string) => string, body: (caller: RouteCaller) => object): PaidRoute {
  return {
    name,
    family,
    go: (caller) => post(`${caller.gatewayUrl}${path(caller.video)}`, body(caller), headersOf(caller)),
    quoted: (caller) => ({ path: path(caller.video), body: body(caller) }),
  };
}

const source = ({ gatewayUrl, video }: RouteCaller) => ({ video: { url: `${gatewayUrl}/v1/videos/${video}/content` } });
const changeRoutes: readonly PaidRoute[] = [
  changed(
    'a remix',
    'openai',
    (video) => `/v1/videos/${video}/remix`,
    () => ({ prompt: 'a blue kite' }),
  ),
  changed(
    "an edit, in xAI's form",
    'xai-videos',
    () => '/v1/videos/edits',
    (caller) => ({ model: wish.model, prompt: 'bluer', ...source(caller) }),
  ),
  changed(
    "an extension, in xAI's form",
    'xai-videos',
    () => '/v1/videos/extensions',
    (caller) => ({
      model: wish.model,
      prompt: 'longer',
      duration: 2,
      ...source(caller),
    }),
  ),
];

/** Every way to spend money. */
export const paidRoutes: readonly PaidRoute[] = [
  ...chatRoutes,
  chatRoute(arrayInterface, true, arrayInterface.model),
  ...responsesRoutes,
  posted('embeddings', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' }),
  ...audioRoutes,
  ...imageRoutes,
  ...rankingRoutes,
  ...moderationRoutes,
  ...videoRoutes,
  ...changeRoutes,
];

const counted = { messages: [{ role: 'user', content: 'hello' }] };
const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];

/** Free POST requests, with their status. */
export const freeRoutes: readonly (readonly [name: string, status: number, path: string, body: object])[] = [
  ['a count of tokens', 200, '/v1/messages/count_tokens', { model: 'claude-sonnet-4-5', ...counted }],
  ['a count of tokens of a model of another vendor', 200, '/v1/messages/count_tokens', { model: 'gpt-4.1', ...counted }],
  ['a count of tokens of contents', 200, '/v1beta/models/gemini-2.5-flash:countTokens', { contents }],
  ['a quote', 200, '/v1/quote', { path: '/v1/responses', body: question }],
  ['a conversation', 200, '/v1/conversations', {}],
  ['a vector store', 200, '/v1/vector_stores', { name: 'mine' }],
];

export const callFreeRoute = (caller: RouteCaller, path: string, body: object): Promise<Answer> =>
  post(`${caller.gatewayUrl}${path}`, body, { ...headersOf(caller), ...versionOf(path) });
