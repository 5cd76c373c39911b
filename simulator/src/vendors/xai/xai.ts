import { isRecord } from '../../read-json.ts';
import { VendorError, type Json, type SimulatedReply, type SimulatedRequest, type SimulatedVendor } from '../../simulated-vendor.ts';
import { xaiFlavor } from '../openai/chat-flavor.ts';
import { handleChat } from '../openai/chat.ts';
import { handleModelList, type ListedModel } from '../openai/openai-models.ts';
import { rateLimitHeaders } from '../openai/openai.ts';
import { handleResponses } from '../openai/responses.ts';
import { isImage } from '../openai/images.ts';
import { handleXaiImages } from './xai-images.ts';

/** Models that the list names. Others answer too. */
const models: readonly ListedModel[] = [
  { id: 'grok-4.5', created: 1_783_468_800, ownedBy: 'xai' },
  { id: 'grok-4.3', created: 1_778_544_000, ownedBy: 'xai' },
  { id: 'grok-4-1-fast', created: 1_763_424_000, ownedBy: 'xai' },
  { id: 'grok-imagine-video', created: 1_769_558_400, ownedBy: 'xai' },
  { id: 'grok-imagine-video-1.5', created: 1_780_272_000, ownedBy: 'xai' },
];

/** This vendor names an error by the sentence of its gRPC status. */
const codes: Readonly<Record<number, string>> = {
  400: 'Client specified an invalid argument',
  401: 'The request does not have valid authentication credentials',
  403: 'The caller does not have permission to execute the specified operation',
  404: 'Some requested entity was not found',
  429: 'Some resource has been exhausted',
  500: 'Internal error',
  503: 'The service is currently unavailable',
  504: 'Deadline expired before operation could complete',
};

const errorFrame = `data: ${JSON.stringify(writeErrorBody(500, 'The simulated model broke off.'))}\n\n`;

/** Chat completions with visible reasoning, responses and models. */
export const xai: SimulatedVendor = {
  name: 'xai',
  authenticate(request) {
    if (/^bearer +\S/i.test(request.headers['authorization'] ?? '')) return;
    throw refuse(
      401,
      'No API key provided. Specify your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).',
    );
  },
  handle(request, planReply) {
    try {
      return handleRoutes(request, planReply);
    } catch (error) {
      throw inOwnWords(error);
    }
  },
  handleMedia: (request, call) =>
    handleXaiImages(request, call)?.catch((error: unknown) => {
      throw inOwnWords(error);
    }),
  isOpen: isImage,
  errorBody: writeErrorBody,
  refuseLongPrompt: () => refuse(400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
  notFoundBody: (request) => writeErrorBody(404, `The requested resource was not found: ${request.method} ${request.path}.`),
  refuseCredential: (credential) =>
    refuse(
      400,
      `Incorrect API key provided: ${credential.slice(0, 2)}***${credential.slice(-2)}. You can obtain an API key from https://console.x.ai.`,
    ),
  commonHeaders: (request) => ({ 'x-request-id': request.requestId ?? '', ...rateLimitHeaders }),
};

function handleRoutes(request: SimulatedRequest, planReply: Parameters<SimulatedVendor['handle']>[1]): SimulatedReply | undefined {
  return handleChat(request, planReply, xaiFlavor, errorFrame) ?? handleResponses(request, planReply) ?? handleModelList(request, models);
}

/** The routes have the messages of the shared format; the body of an error is this vendor's own. */
function inOwnWords(error: unknown): unknown {
  return error instanceof VendorError ? refuse(error.status, readMessage(error.body) ?? error.message) : error;
}

function writeErrorBody(status: number, message: string): Json {
  return { code: codes[status] ?? (status < 500 ? 'Client specified an invalid argument' : 'Internal error'), error: message };
}

function refuse(status: number, message: string): VendorError {
  return new VendorError(status, writeErrorBody(status, message), message);
}

function readMessage(body: Json): string | undefined {
  const error = isRecord(body) ? body['error'] : undefined;
  const message = isRecord(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : undefined;
}
