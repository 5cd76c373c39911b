import { type Endpoint, type EndpointRoute } from '../shared/endpoint.ts';
import type { AccountServices } from './account-services.ts';
import { callbackOperation, callbackSchemas, webhooks } from './open-api/callback-operations.ts';
import { type CallbackAction, serveCallbacks } from './serve-callbacks.ts';

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
