import { hash } from 'node:crypto';
import { countPrompt } from '../../plan-reply.ts';
import type { PlanReply, SimulatedReply, SimulatedRequest, SimulatedVendor } from '../../simulated-vendor.ts';
import { refuse, writeErrorBody } from './anthropic-error.ts';
import { checkConversation, checkCountTokensBody, checkMessagesBody } from './check-messages.ts';
import { handleModels } from './models.ts';
import { readMessages } from './read-messages.ts';
import { streamMessage } from './stream-message.ts';
import { keepConversation, openConversation } from './threads.ts';
import { planSearch } from './web-search.ts';
import { writeMessage } from './write-message.ts';

/** The Messages interface: messages whole and streamed, threads, token counts, models. */
export const anthropic: SimulatedVendor = {
  name: 'anthropic',
  authenticate,
  handle(request, planReply) {
    if (request.path === '/v1/messages' && request.method === 'POST') return handleMessages(request, planReply);
    if (request.path === '/v1/messages/count_tokens' && request.method === 'POST') return handleCountTokens(request);
    return handleModels(request);
  },
  errorBody: (status, message, requestId) => writeErrorBody(status, message, requestId),
  refuseLongPrompt: (request) => refuse(request, 'prompt is too long: 210000 tokens > 200000 maximum'),
  notFoundBody: (request) => writeErrorBody(404, 'Not Found', request.requestId),
  refuseCredential: (_credential, request) => refuse(request, 'invalid x-api-key', 401),
  commonHeaders,
};

function authenticate(request: SimulatedRequest): void {
  const key = request.headers['x-api-key'];
  const bearer = request.headers['authorization'];
  if (key === undefined && bearer === undefined) throw refuse(request, 'x-api-key header is required', 401);
  if (key?.trim() === '' || (key === undefined && !/^bearer +\S/i.test(bearer ?? ''))) throw refuse(request, 'invalid x-api-key', 401);
}

function checkVersion(request: SimulatedRequest): void {
  const version = request.headers['anthropic-version'];
  if (version === undefined) throw refuse(request, 'anthropic-version: header is required');
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) throw refuse(request, `anthropic-version: "${version}" is not a valid version`);
}

function handleMessages(request: SimulatedRequest, planReply: PlanReply): SimulatedReply {
  checkVersion(request);
  const conversation = openConversation(request, checkMessagesBody(request));
  const { body, messages } = conversation;
  checkModel(request, body.model);
  checkConversation(request, messages, body);
  const planRequest = readMessages(body, messages);
  const plan = planReply(planRequest);
  const { thinking } = body;
  const search = planSearch(body, plan, planRequest.lastUserText);
  const omitsThinking = Boolean(thinking && 'display' in thinking && thinking.display === 'omitted');
  const options = { model: body.model, omitsThinking, ...(search !== undefined && { search }) };
  if (body.thread) keepConversation(request, conversation, writeMessage(plan, options));
  if (body.stream === true) return streamMessage(plan, options, writeErrorFrame(request));
  return {
    type: 'whole',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(writeMessage(plan, options)),
    plan,
  };
}

function handleCountTokens(request: SimulatedRequest): SimulatedReply {
  checkVersion(request);
  const body = checkCountTokensBody(request);
  checkModel(request, body.model);
  const counted = {
    input_tokens: countPrompt(readMessages(body, body.messages)),
    ...(body.context_management && { context_management: null }),
  };
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(counted) };
}

/** Any model exists here, except those that tests request to be missing. */
function checkModel(request: SimulatedRequest, model: string): void {
  if (model.startsWith('missing-')) throw refuse(request, `model: ${model}`, 404);
}

function writeErrorFrame(request: SimulatedRequest): string {
  return `event: error\ndata: ${JSON.stringify(writeErrorBody(529, 'Overloaded', request.requestId))}\n\n`;
}

function commonHeaders(request: SimulatedRequest): Record<string, string> {
  const credential = request.headers['x-api-key'] ?? request.headers['authorization'] ?? '';
  // Whole seconds, as the vendor writes them.
  const reset = `${new Date((request.nowMs ?? 0) + 60_000).toISOString().slice(0, 19)}Z`;
  return {
    'request-id': request.requestId ?? '',
    'anthropic-organization-id': organizationOf(credential),
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': reset,
    'anthropic-ratelimit-input-tokens-limit': '2000000',
    'anthropic-ratelimit-input-tokens-remaining': '1999000',
    'anthropic-ratelimit-input-tokens-reset': reset,
    'anthropic-ratelimit-output-tokens-limit': '400000',
    'anthropic-ratelimit-output-tokens-remaining': '399000',
    'anthropic-ratelimit-output-tokens-reset': reset,
  };
}

function organizationOf(credential: string): string {
  const digest = hash('sha256', `organization ${credential}`);
  return [digest.slice(0, 8), digest.slice(8, 12), digest.slice(12, 16), digest.slice(16, 20), digest.slice(20, 32)].join('-');
}
