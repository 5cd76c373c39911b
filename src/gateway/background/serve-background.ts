import type { IncomingMessage } from 'node:http';

import { openaiResponses } from '../../dialects/openai-responses/openai-responses.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { authenticate } from '../authenticate.ts';
import type { ClientReply } from '../exchange/client-reply.ts';
import { requestIdHeader } from '../exchange/reply-headers.ts';
import type { Gateway } from '../gateway.ts';
import { checkCaller } from '../limits/check-caller.ts';
import type { RequestTarget } from '../request-target.ts';
import { writeReply } from '../write-reply.ts';
import type { BackgroundRuns } from './background-runs.ts';
import { cancelResponse, responseNotFound } from './cancel-response.ts';
import { createEventSource } from './event-source.ts';
import { writeFollowed } from './write-followed.ts';

/** A request about one stored response. */
export type ResponseRequest = {
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly callId: string;
  readonly target: RequestTarget;
  /** As the path has it. */
  readonly responseId: string;
};

/** Whether a `GET` asks for the events of a response and not for the response. */
export function asksForEvents({ query }: RequestTarget): boolean {
  return query.get('stream') === 'true';
}

/**
 * `GET /v1/responses/{id}?stream=true&starting_after=N`: the events after N, and then those to come, until the last.
 * @throws GatewayError before anything was written
 */
export async function followResponse(gateway: Gateway, http: ResponseRequest): Promise<void> {
  const { runs, userName } = await enter(gateway, http);
  const after = readStartingAfter(http.target.query);
  const { responseId: id, response, callId } = http;
  const { clock } = gateway;
  if (runs.find(userName, id) === undefined) {
    const stored = await askStore(runs.conversations.findResponse(userName, id));
    if (stored === undefined) throw responseNotFound(id);
  }
  const source = createEventSource(runs, { userName, id });
  const { timeouts } = gateway.settings();
  await writeFollowed(response, { source, after, callId, timeouts, heartbeat: openaiResponses.heartbeat('sse'), clock });
}

/** `POST /v1/responses/{id}/cancel`. @throws GatewayError as `cancelResponse` */
export async function serveCancel(gateway: Gateway, http: ResponseRequest): Promise<void> {
  const { runs, userName } = await enter(gateway, http);
  const response = await askStore(cancelResponse(runs, userName, http.responseId));
  const headers = { 'content-type': 'application/json', [requestIdHeader]: http.callId };
  writeReply(http.response, 200, headers, Buffer.from(JSON.stringify(response)));
}

async function enter(gateway: Gateway, { request, target }: ResponseRequest): Promise<{ runs: BackgroundRuns; userName: string }> {
  const caller = await authenticate(request, target.queryKeys, gateway.callers);
  checkCaller(caller, request, gateway.clock.nowMs(), gateway.settings().isProxy);
  if (gateway.background === undefined) throw unavailable();
  return { runs: gateway.background, userName: caller.userName };
}

async function askStore<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    throw error instanceof GatewayError ? error : unavailable(error);
  }
}

function unavailable(cause?: unknown): GatewayError {
  return new GatewayError('responses_unavailable', 'stored responses cannot be read at the moment; try again', {
    retryAfterSeconds: 1,
    cause,
  });
}

/** @throws GatewayError `invalid_value` for what is no number of an event */
function readStartingAfter(query: URLSearchParams): number {
  const text = query.get('starting_after');
  if (text === null || text === '') return -1;
  const after = Number(text);
  if (/^\d{1,15}$/.test(text)) return after;
  throw new GatewayError('invalid_value', `Invalid 'starting_after': expected the number of an event, but got '${text.slice(0, 40)}'.`, {
    param: 'starting_after',
  });
}
