import { openaiResponses } from '../../../../dialects/openai-responses/openai-responses.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import { createEventSource } from './event-source.ts';
import { writeFollowed } from './write-followed.ts';

/** A request for the events of a stored response of the caller. */
export type EventsRequest = {
  readonly userName: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly callId: string;
  readonly response: ClientReply;
};

/**
 * `GET /v1/responses/{id}?stream=true&starting_after=N`: the stored events after N and then new ones, until the last.
 * @throws GatewayError `invalid_value` before anything was written
 */
export async function followResponse(
  gateway: Pick<ChatServices, 'background' | 'clock' | 'settings'>,
  { userName, id, query, callId, response }: EventsRequest,
): Promise<void> {
  const after = readStartingAfter(query);
  const { background, clock } = gateway;
  if (background === undefined) throw new GatewayError('responses_unavailable', 'responses are not stored here');
  const source = createEventSource(background, { userName, id });
  const { timeouts } = gateway.settings();
  await writeFollowed(response, { source, after, callId, timeouts, heartbeat: openaiResponses.voice.heartbeat('sse'), clock });
}

/** @throws GatewayError `invalid_value` if `starting_after` is not the number of an event */
function readStartingAfter(query: URLSearchParams): number {
  const text = query.get('starting_after');
  if (text === null || text === '') return -1;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new GatewayError('invalid_value', `Invalid 'starting_after': expected the number of an event, but got '${text.slice(0, 40)}'.`, {
    param: 'starting_after',
  });
}
