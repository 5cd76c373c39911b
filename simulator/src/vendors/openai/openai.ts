import type { Json, MediaCall, MediaReply, SimulatedRequest, SimulatedVendor, VendorError } from '../../simulated-vendor.ts';
import { audioModels, handleAudio, isOpenAudio } from './audio.ts';
import { openaiFlavor } from './chat-flavor.ts';
import { handleChat } from './chat.ts';
import { handleEmbeddings } from './embeddings.ts';
import { answerImages, isImage, serveImage } from './images.ts';
import { handleModerations } from './moderations.ts';
import { handleModelList, type ListedModel } from './openai-models.ts';
import { handleRerank } from './rerank.ts';
import { refuse } from './responses-error.ts';
import { handleResponses } from './responses.ts';

/** Models that the list names. Others answer too. */
const models: readonly ListedModel[] = [
  { id: 'gpt-5.6-sol', created: 1_784_505_600, ownedBy: 'system' },
  { id: 'gpt-5.5', created: 1_776_988_800, ownedBy: 'system' },
  { id: 'gpt-5.4-mini', created: 1_773_792_000, ownedBy: 'system' },
  { id: 'gpt-5', created: 1_754_524_800, ownedBy: 'system' },
  { id: 'gpt-4.1', created: 1_744_588_800, ownedBy: 'system' },
  { id: 'gpt-4o-mini', created: 1_721_260_800, ownedBy: 'system' },
  { id: 'text-embedding-3-small', created: 1_705_948_997, ownedBy: 'system' },
  { id: 'sora-2', created: 1_759_708_800, ownedBy: 'system' },
  { id: 'sora-2-pro', created: 1_759_708_800, ownedBy: 'system' },
  { id: 'vendor-imagine-video', created: 1_769_558_400, ownedBy: 'system' },
  { id: 'o4-mini', created: 1_744_761_600, ownedBy: 'system' },
  ...audioModels,
];

const serverError = 'The server had an error while processing your request. Sorry about that!';
const errorFrame = `data: ${JSON.stringify(writeErrorBody(500, serverError))}\n\n`;

/** Chat completions, responses and models. */
export const openai: SimulatedVendor = {
  name: 'openai',
  authenticate,
  handle: (request, planReply) =>
    handleChat(request, planReply, openaiFlavor, errorFrame) ??
    handleResponses(request, planReply) ??
    handleEmbeddings(request) ??
    handleModerations(request) ??
    handleRerank(request) ??
    handleModelList(request, models),
  handleMedia: (request, call) => handleImages(request, call) ?? handleAudio(request, call),
  isOpen: (request) => isOpenAudio(request) || isImage(request),
  errorBody: writeErrorBody,
  refuseLongPrompt,
  notFoundBody: (request) => ({
    error: { message: `Invalid URL (${request.method} ${request.path})`, type: 'invalid_request_error', param: null, code: null },
  }),
  refuseCredential: (credential) =>
    refuse(
      `Incorrect API key provided: ${maskKey(credential)}. You can find your API key at https://platform.openai.com/account/api-keys.`,
      {
        status: 401,
        code: 'invalid_api_key',
      },
    ),
  commonHeaders: (request) => ({
    'x-request-id': request.requestId ?? '',
    'openai-organization': 'simulated-organization',
    'openai-project': 'proj_simulated',
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
    ...rateLimitHeaders,
  }),
};

function handleImages(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> | undefined {
  const shown = serveImage(request);
  if (shown !== undefined) return Promise.resolve(shown);
  const isRoute = request.method === 'POST' && /^\/v1\/images\/(?:generations|edits)$/.test(request.path);
  return isRoute ? answerImages(request, call) : undefined;
}

/** The two interfaces have different messages with the same code. */
function refuseLongPrompt(request: SimulatedRequest): VendorError {
  const code = 'context_length_exceeded';
  if (request.path.endsWith('/responses')) {
    return refuse('Your input exceeds the context window of this model. Please adjust your input and try again.', { param: 'input', code });
  }
  return refuse(
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
    { param: 'messages', code },
  );
}

/** Rate limits as this dialect's vendors report them, with the reset as a duration. */
export const rateLimitHeaders: Readonly<Record<string, string>> = {
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-limit-tokens': '30000000',
  'x-ratelimit-remaining-requests': '9999',
  'x-ratelimit-remaining-tokens': '29999000',
  'x-ratelimit-reset-requests': '6ms',
  'x-ratelimit-reset-tokens': '2ms',
};

function authenticate(request: SimulatedRequest): void {
  if (/^bearer +\S/i.test(request.headers['authorization'] ?? '')) return;
  throw refuse(
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    { status: 401 },
  );
}

function writeErrorBody(status: number, message: string): Json {
  const [type, code] = errorKind(status);
  return { error: { message, type, param: null, code } };
}

function errorKind(status: number): readonly [type: string, code: string | null] {
  if (status === 401) return ['invalid_request_error', 'invalid_api_key'];
  if (status === 429) return ['requests', 'rate_limit_exceeded'];
  return status < 500 ? ['invalid_request_error', null] : ['server_error', status === 500 ? null : 'server_error'];
}

/** The beginning and the end of a key, as the vendor repeats it. */
function maskKey(key: string): string {
  return key.length <= 8 ? '*'.repeat(key.length) : `${key.slice(0, 4)}${'*'.repeat(Math.min(key.length - 8, 16))}${key.slice(-4)}`;
}
