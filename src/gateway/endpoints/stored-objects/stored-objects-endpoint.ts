import { enter } from '../../admission/enter.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { type Endpoint, type EndpointRequest, type EndpointRoute, type PathMatch } from '../shared/endpoint.ts';
import { carriers } from '../shared/open-api-parts.ts';
import { dialectOfHeaders, wordingOf } from '../shared/wording.ts';
import { writeJson } from '../shared/write-json.ts';
import { serveStoredObject } from './serve-stored-objects.ts';
import type { StoredObjectRoute, StoredObjects } from './stored-objects.ts';

type StoredServices = AdmissionServices & Pick<AttemptServices, 'settings' | 'newId'> & { readonly storedObjects: StoredObjects };

/** Summaries by object and action. */
const summaries: Readonly<Record<string, string>> = {
  'response show': 'A stored response; `include` adds members to its items',
  'response delete': 'Deletes a stored response',
  'response cancel': 'Cancels a response that is generated in the background',
  'response list-input-items': 'Its input items, including those of earlier responses',
  'conversation create': 'Creates a conversation',
  'conversation show': 'A conversation',
  'conversation update': 'Replaces its metadata',
  'conversation delete': 'Deletes a conversation and its items',
  'item list': 'The items of a conversation',
  'item add': 'Adds up to 20 items at its end',
  'item show': 'One item',
  'item delete': 'Deletes one item',
};

function describe({ object, action }: StoredObjectRoute): object {
  return {
    summary: summaries[`${object} ${action}`] ?? '',
    security: carriers,
    responses: {
      200: { description: 'The object, or the result of the action.' },
      ...Object.fromEntries([400, 401, 404, 503].map((status) => [status, { description: 'See docs/reference/errors.md.' }])),
    },
  };
}

function route(method: 'GET' | 'POST' | 'DELETE', path: string, stored: StoredObjectRoute): EndpointRoute<StoredServices> {
  return {
    method,
    path,
    identifiedBy: stored.object === 'response' ? 'path' : 'body',
    openApi: { operation: () => describe(stored) },
    serve: (services, http, match) => serve(services, http, stored, match),
  };
}

/**
 * Serves stored objects of the caller's user. The request passes the gate of calls, because it costs this process as
 * much as a call.
 */
async function serve(services: StoredServices, http: EndpointRequest, stored: StoredObjectRoute, { params }: PathMatch): Promise<void> {
  const { request, response, callId, target } = http;
  const { limits, validation, responseRetentionDays: retentionDays } = services.settings();
  const entered = await enter(services, http, chatDialects['openai-responses'].voice);
  if (entered === undefined) return;
  const { caller, admission } = entered;
  const settings = { limits, validation, retentionDays };
  const nowMs = services.clock.nowMs();
  const mayHold = (bytes: number): boolean => admission.holdBytes(bytes);
  const objectRequest = { caller, callId, request, response, query: target.query, params, settings, nowMs, newId: services.newId, mayHold };
  const answer = await serveStoredObject(services.storedObjects, stored, objectRequest);
  if (answer !== undefined) writeJson(http, 200, answer);
}

/** Stored responses, conversations and their items. */
export const storedObjectsEndpoint: Endpoint<StoredServices> = {
  name: 'stored-objects',
  routes: [
    route('GET', '/v1/responses/:id', { object: 'response', action: 'show' }),
    route('DELETE', '/v1/responses/:id', { object: 'response', action: 'delete' }),
    route('POST', '/v1/responses/:id/cancel', { object: 'response', action: 'cancel' }),
    route('GET', '/v1/responses/:id/input_items', { object: 'response', action: 'list-input-items' }),
    route('POST', '/v1/conversations', { object: 'conversation', action: 'create' }),
    route('GET', '/v1/conversations/:id', { object: 'conversation', action: 'show' }),
    route('POST', '/v1/conversations/:id', { object: 'conversation', action: 'update' }),
    route('DELETE', '/v1/conversations/:id', { object: 'conversation', action: 'delete' }),
    route('GET', '/v1/conversations/:id/items', { object: 'item', action: 'list' }),
    route('POST', '/v1/conversations/:id/items', { object: 'item', action: 'add' }),
    route('GET', '/v1/conversations/:id/items/:itemId', { object: 'item', action: 'show' }),
    route('DELETE', '/v1/conversations/:id/items/:itemId', { object: 'item', action: 'delete' }),
  ],
  voice: {
    owns: (path) => path.startsWith('/v1/conversations'),
    wording: (_path, headers) => {
      const dialect = dialectOfHeaders(headers);
      return wordingOf(dialect === 'openai-chat' ? 'openai-responses' : dialect);
    },
  },
};
