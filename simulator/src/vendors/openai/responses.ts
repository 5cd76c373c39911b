import { countPrompt } from '../../plan-reply.ts';
import type { Json, JsonRecord, PlanReply, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { checkContext, checkRequest } from './responses-check.ts';
import { deleteStoredResponse, gatherContext, readStoredResponse, type StoredResponse, storeResponse } from './responses-context.ts';
import { refuse } from './responses-error.ts';
import { frameEvent, unfinished, writeEvents, writeFailure } from './responses-events.ts';
import { writeCompaction, writeResponse } from './responses-object.ts';
import { toPlanRequest } from './responses-plan-request.ts';

const itemsPerPageDefault = 20;
const itemsPerPageMax = 100;

/**
 * Answers the routes of the Responses interface: create (whole or streamed), read and replay, delete, cancel, the items
 * of the input, and the count of input tokens. Undefined for any other path. Stored objects are in the memory of the
 * request. Throws VendorError.
 */
export function handleResponses(request: SimulatedRequest, planReply: PlanReply): SimulatedReply | undefined {
  if (request.path === '/v1/responses') return request.method === 'POST' ? createResponse(request, planReply) : undefined;
  if (request.path === '/v1/responses/input_tokens' && request.method === 'POST') return countInputTokens(request);
  if (request.path === '/v1/responses/compact' && request.method === 'POST') return compactConversation(request, planReply);
  const [, id, action] = /^\/v1\/responses\/([^/]+)(?:\/(cancel|input_items))?$/.exec(request.path) ?? [];
  if (id === undefined) return undefined;
  switch (`${request.method} ${action ?? ''}`) {
    case 'GET ':
      return readResponse(request, find(request, id));
    case 'DELETE ':
      find(request, id);
      deleteStoredResponse(request, id);
      return whole({ id, object: 'response', deleted: true });
    case 'POST cancel':
      return cancelResponse(find(request, id));
    case 'GET input_items':
      return listInputItems(request, find(request, id));
    default:
      return undefined;
  }
}

function createResponse(request: SimulatedRequest, planReply: PlanReply): SimulatedReply {
  const body = checkRequest(request.body);
  const context = gatherContext(request, body);
  checkContext(context);
  const planRequest = toPlanRequest(body, context);
  const plan = planReply(planRequest);
  const response = writeResponse(body, plan, planRequest.lastUserText);
  if (body.store !== false) storeResponse(request, response, context);
  if (body.stream === true) {
    const events = writeEvents(response, {
      ...(plan.tokensPerFrame !== undefined && { tokensPerFrame: plan.tokensPerFrame }),
      includeObfuscation: body.stream_options?.include_obfuscation === true,
    });
    const firstContentFrame = events.findIndex((event) => event.tokens > 0);
    return {
      type: 'stream',
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      frames: events.map((event) => frameEvent(event.data)),
      frameTokens: events.map((event) => event.tokens),
      firstContentFrame: firstContentFrame < 0 ? events.length - 1 : firstContentFrame,
      errorFrame: writeFailure(response, events.length),
      plan,
    };
  }
  return { ...whole(body.background === true ? unfinished(response, 'queued') : response), plan };
}

/** Answers with the messages of the user and one item that replaces the rest. */
function compactConversation(request: SimulatedRequest, planReply: PlanReply): SimulatedReply {
  const body = checkRequest(request.body);
  const context = gatherContext(request, body);
  const planRequest = toPlanRequest(body, context);
  const plan = planReply(planRequest);
  const { id, created_at, usage } = writeResponse(body, plan, planRequest.lastUserText);
  const kept = [...context.earlierItems, ...context.inputItems].filter((item) => item.role === 'user');
  return { ...whole({ id, object: 'response.compaction', created_at, output: [...kept, writeCompaction(plan)], usage }), plan };
}

function countInputTokens(request: SimulatedRequest): SimulatedReply {
  const body = checkRequest(request.body);
  const context = gatherContext(request, body);
  return whole({ object: 'response.input_tokens', input_tokens: countPrompt(toPlanRequest(body, context)) });
}

function find(request: SimulatedRequest, id: string): StoredResponse {
  const stored = readStoredResponse(request, id);
  if (!stored) throw refuse(`Response with id '${id}' not found.`, { status: 404 });
  return stored;
}

/**
 * Reads a stored response, or replays its events after `starting_after`. A background response is finished as soon as
 * it is read.
 */
function readResponse(request: SimulatedRequest, { response }: StoredResponse): SimulatedReply {
  if (request.query.get('stream') !== 'true') return whole(response);
  const startingAfter = request.query.get('starting_after');
  if (startingAfter !== null && !/^\d{1,9}$/.test(startingAfter)) {
    throw refuse("Invalid type for 'starting_after': expected an integer, but got a string instead.", {
      param: 'starting_after',
      code: 'invalid_type',
    });
  }
  const events = writeEvents(response).slice(startingAfter === null ? 0 : Number(startingAfter) + 1);
  return {
    type: 'whole',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: events.map((event) => frameEvent(event.data)).join(''),
  };
}

function cancelResponse({ response }: StoredResponse): SimulatedReply {
  const message =
    response.background === true ? 'Cannot cancel a completed response.' : 'Only responses created with background=true can be cancelled.';
  throw refuse(message);
}

function listInputItems(request: SimulatedRequest, stored: StoredResponse): SimulatedReply {
  const limit = Number(request.query.get('limit') ?? itemsPerPageDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > itemsPerPageMax) {
    throw refuse(`Invalid 'limit': integer ${limit > itemsPerPageMax ? 'above maximum' : 'below minimum'} value.`, { param: 'limit' });
  }
  const items = [...stored.earlierItems, ...stored.inputItems];
  if (request.query.get('order') !== 'asc') items.reverse();
  const after = request.query.get('after');
  const start = after === null ? 0 : items.findIndex((item) => item.id === after) + 1;
  const data = items.slice(start, start + limit);
  return whole({
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  });
}

function whole(body: JsonRecord | Json[]): Extract<SimulatedReply, { type: 'whole' }> {
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
