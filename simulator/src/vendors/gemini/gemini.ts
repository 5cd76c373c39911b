import { countPrompt } from '../../plan-reply.ts';
import { VendorError } from '../../simulated-vendor.ts';
import type { JsonRecord, PlanReply, SimulatedReply, SimulatedRequest, SimulatedVendor } from '../../simulated-vendor.ts';
import { checkGenerateContent } from './check-generate-content.ts';
import { decodeProtoJson } from './decode-proto-json.ts';
import { apiKeyInvalidDetails, refuse, writeErrorBody } from './gemini-error.ts';
import { listModels, writeModel } from './gemini-models.ts';
import { toPlanRequest } from './generate-content-plan.ts';
import { countTokensMessage, generateContentMessage, type GenerateContentRequest } from './generate-content-schema.ts';
import { batchEmbed } from './gemini-embeddings.ts';
import { handleImages } from './gemini-images.ts';
import { writeStreamedReply, writeWholeReply } from './write-generate-content.ts';
import { writePromptDetails } from './write-usage.ts';

const pageSizeDefault = 50;
const pageSizeMax = 1000;

/**
 * Google's generate-content interface: generateContent, streamGenerateContent (server-sent events with `alt=sse`,
 * otherwise one JSON array), countTokens, and the models. A key may be in the `x-goog-api-key` header or in the query,
 * as at the vendor.
 */
export const gemini: SimulatedVendor = {
  name: 'gemini',
  authenticate(request) {
    if (request.headers['x-goog-api-key'] || request.query.get('key')) return;
    throw inFormOf(request, request.headers.authorization ? refuseToken() : refuseUnregistered());
  },
  refuseCredential: (_credential, request) =>
    inFormOf(request, refuse('API key not valid. Please pass a valid API key.', 400, apiKeyInvalidDetails)),
  handle(request, planReply) {
    try {
      return route(request, planReply);
    } catch (error) {
      throw error instanceof VendorError ? inFormOf(request, error) : error;
    }
  },
  handleMedia: handleImages,
  errorBody: (status, message) => writeErrorBody(status, message),
  refuseLongPrompt: (request) =>
    inFormOf(request, refuse('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).')),
  notFoundBody: (request) => writeErrorBody(404, `The requested URL ${request.path} was not found on this server.`),
  commonHeaders: () => ({ vary: 'Origin, X-Origin, Referer', 'x-content-type-options': 'nosniff' }),
};

type Route = { readonly model: string; readonly action: string };

function route(request: SimulatedRequest, planReply: PlanReply): SimulatedReply | undefined {
  if (alternative(request) === 'media') throw refuse("Invalid value at 'alt': media downloads are not supported here.");
  if (request.method === 'GET') return readModels(request);
  const found = request.method === 'POST' ? findRoute(request) : undefined;
  if (!found) return undefined;
  const { model, action } = found;
  switch (action) {
    case 'generateContent':
      return generate(request, planReply, model, action);
    case 'streamGenerateContent':
      return generate(request, planReply, model, action);
    case 'batchEmbedContents':
      refuseUnknownModel(model, action);
      return whole(batchEmbed(model, request.body ?? {}));
    case 'countTokens':
      return countTokens(request, model);
    default:
      return undefined;
  }
}

/**
 * Finds the model and the action. The model may have `models/` before it, once or twice, and the colon may be
 * percent-encoded.
 */
function findRoute(request: SimulatedRequest): Route | undefined {
  const path = request.path.replaceAll(/%3a/gi, ':').replaceAll(/%2f/gi, '/');
  const [, model, action] = /^\/v1(?:beta|alpha)?\/(?:models\/)+([^:]+):([A-Za-z]+)$/.exec(path) ?? [];
  return model === undefined || action === undefined ? undefined : { model, action };
}

function generate(request: SimulatedRequest, planReply: PlanReply, model: string, action: string): SimulatedReply {
  refuseUnknownModel(model, action);
  const body = decodeProtoJson(generateContentMessage, request.body);
  checkGenerateContent(model, body);
  const planRequest = toPlanRequest(model, body);
  const generation = { model, body, plan: planReply(planRequest), query: planRequest.lastUserText, promptText: planRequest.promptText };
  return action === 'generateContent' ? writeWholeReply(generation) : writeStreamedReply(generation, alternative(request) === 'sse');
}

function countTokens(request: SimulatedRequest, model: string): SimulatedReply {
  refuseUnknownModel(model, 'countTokens');
  const body = decodeProtoJson(countTokensMessage, request.body);
  if (body.contents && body.generateContentRequest) throw refuse('Only one of contents and generate_content_request may be set.');
  const counted: GenerateContentRequest = body.generateContentRequest ?? { ...(body.contents && { contents: body.contents }) };
  checkGenerateContent(model, counted);
  const totalTokens = countPrompt(toPlanRequest(model, counted));
  return whole({ totalTokens, promptTokensDetails: writePromptDetails(counted, totalTokens) });
}

function readModels(request: SimulatedRequest): SimulatedReply | undefined {
  const found = /^\/v1(?:beta|alpha)?\/models(?:\/([^/:]+))?$/.exec(request.path);
  if (!found) return undefined;
  const model = found[1];
  if (model !== undefined) {
    refuseUnknownModel(model, 'GetModel');
    return whole(writeModel(model));
  }
  const pageSize = Number(request.query.get('pageSize') ?? pageSizeDefault);
  const pageToken = request.query.get('pageToken') ?? '';
  if (!Number.isInteger(pageSize) || pageSize < 0) throw refuse('* ListModelsRequest.page_size: page_size must not be negative.\n');
  if (!/^(page-\d{1,4})?$/.test(pageToken)) throw refuse('* ListModelsRequest.page_token: the page token is invalid.\n');
  return whole(listModels(Math.min(pageSize || pageSizeDefault, pageSizeMax), pageToken));
}

/**
 * Any model exists here, except those that tests request to be missing, and those of other vendors, which arrive only
 * by mistake.
 */
function refuseUnknownModel(model: string, action: string): void {
  if (!/^(missing-|claude|gpt-|chatgpt|o\d|grok)/.test(model)) return;
  throw refuse(
    `models/${model} is not found for API version v1beta, or is not supported for ${action}. Call ModelService.ListModels to see the list of available models and their supported methods.`,
    404,
  );
}

function alternative(request: SimulatedRequest): string {
  return request.query.get('alt') ?? request.query.get('$alt') ?? 'json';
}

/** A stream in array form also wraps its refusals in an array. */
function inFormOf(request: SimulatedRequest, error: VendorError): VendorError {
  const isArray = /(:|%3a)streamGenerateContent$/i.test(request.path) && alternative(request) !== 'sse';
  return isArray ? new VendorError(error.status, [error.body], error.message) : error;
}

function refuseUnregistered(): VendorError {
  return refuse(
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    403,
  );
}

function refuseToken(): VendorError {
  return refuse(
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
    401,
  );
}

function whole(body: JsonRecord): SimulatedReply {
  return {
    type: 'whole',
    status: 200,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify(body, null, 2),
  };
}
