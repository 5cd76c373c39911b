import type { ChangeAuthor } from '../../../audit/change-author.ts';
import type { Endpoint, EndpointRequest, EndpointRoute } from '../shared/endpoint.ts';
import type { AccountServices } from './account-services.ts';
import { type CallbackAction, callbackOperation, callbackSchemas, webhooks } from './open-api/callback-operations.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Delivery } from '../../../tasks/callbacks/callback-store.ts';
import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import { enter } from '../../admission/enter.ts';
import { writeJson } from '../shared/write-json.ts';

function route(method: 'GET' | 'POST', path: string, action: CallbackAction): EndpointRoute<AccountServices> {
  return {
    method,
    path,
    identifiedBy: 'path',
    openApi: { operation: () => callbackOperation(action) },
    serve: (services, http, { params }) => serveCallbacks(services, action, http, params['id'] ?? ''),
  };
}

/** Callbacks to the callers' own addresses. */
export const callbacksEndpoint: Endpoint<AccountServices> = {
  name: 'callbacks',
  routes: [
    route('GET', '/v1/callbacks', 'list'),
    route('POST', '/v1/callbacks/:id/redeliver', 'send-again'),
    route('POST', '/v1/callbacks/secret/rotate', 'rotate-secret'),
  ],
  schemas: callbackSchemas,
  webhooks,
};

type CallbackQuery = { readonly userName: string; readonly id: string; readonly query: URLSearchParams; readonly author: ChangeAuthor };

const limitDefault = 20;
const limitMax = 100;

/**
 * Serves the callbacks of the caller's user: the list with its results, repeated delivery, and a new secret, which is
 * shown only once.
 * @throws GatewayError `object_not_found` for a missing event and for another user's, with the same message
 */
async function serveCallbacks(gateway: AccountServices, action: CallbackAction, http: EndpointRequest, id: string): Promise<void> {
  const admitted = await enter(gateway, http, chatDialects['openai-chat'].voice);
  if (admitted === undefined) return;
  const { id: keyId, userName } = admitted.caller;
  const author: ChangeAuthor = { actor: `key:${keyId}`, via: 'gateway', requestId: http.callId };
  const { callbacks } = gateway;
  if (callbacks === undefined) throw new GatewayError('route_not_found', 'this gateway does not send callbacks');
  const answer = await act(callbacks, action, { userName, id, query: http.target.query, author }).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('tasks_unavailable', 'callbacks cannot be read at the moment; try again', { retryAfterSeconds: 1, cause });
  });
  writeJson(http, 200, answer, { 'cache-control': 'no-store' });
}

async function act(callbacks: Callbacks, action: CallbackAction, { userName, id, query, author }: CallbackQuery): Promise<object> {
  switch (action) {
    case 'list': {
      const limit = readLimit(query);
      const subject = query.get('subject');
      const found = await callbacks.list({ userName, ...(subject === null ? {} : { subject }), limit: limit + 1 });
      return { object: 'list', data: found.slice(0, limit).map(describeDelivery), has_more: found.length > limit };
    }
    case 'send-again':
      if (!(await callbacks.sendAgain(userName, id, author)))
        throw new GatewayError('object_not_found', `Callback with id '${id.slice(0, 100)}' not found.`);
      return { id, object: 'callback', status: 'waiting' };
    case 'rotate-secret':
      return { object: 'callback.secret', secret: await callbacks.rotateSecret(userName, author) };
  }
}

/** @throws GatewayError `invalid_value` */
function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(limitDefault);
  const limit = Number(text);
  if (/^\d{1,3}$/.test(text) && limit >= 1 && limit <= limitMax) return limit;
  throw new GatewayError('invalid_value', `Invalid 'limit': expected an integer from 1 to ${limitMax}.`, { param: 'limit' });
}

/** A delivery without its address, which may contain a credential. Times are Unix seconds. */
function describeDelivery(delivery: Delivery): object {
  const { id, subject, eventType, status, attempts, createdAtMs, nextAttemptAtMs, deliveredAtMs, lastStatus, lastProblem } = delivery;
  const seconds = (timeMs: number | undefined): number | null => (timeMs === undefined ? null : Math.floor(timeMs / 1000));
  return {
    id,
    object: 'callback',
    type: eventType,
    subject,
    status: status.replace('-', '_'),
    attempts,
    created_at: seconds(createdAtMs),
    next_attempt_at: status === 'waiting' ? seconds(nextAttemptAtMs) : null,
    delivered_at: seconds(deliveredAtMs),
    last_status: lastStatus ?? null,
    last_problem: lastProblem ?? null,
  };
}
