import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { type CloudRequest, createWholeServer } from '../whole-request.ts';
import { asText, parseRecord } from '../../read-json.ts';
import { answerCall } from '../../answer-call.ts';
import { type JsonRecord, type SimulatedVendor, VendorError } from '../../simulated-vendor.ts';
import type { SimulatorState } from '../../simulator-state.ts';
import { createDeskOf } from '../../videos/answer-video-call.ts';
import { createVertexVideoRoutes } from '../../videos/google-videos.ts';
import { anthropic } from '../../vendors/anthropic/anthropic.ts';
import { gemini } from '../../vendors/gemini/gemini.ts';
import { embedAtVertex } from '../../vendors/gemini/gemini-embeddings.ts';
import { openai } from '../../vendors/openai/openai.ts';
import type { GoogleTokens } from './google-tokens.ts';

/** The state of the service, which tests change while it runs. */
export type VertexState = {
  readonly project: string;
  /** Models by location; `*` is every location. */
  readonly models: Map<string, ReadonlySet<string>>;
  /** Keys of express mode. */
  readonly keys: Set<string>;
  /** Identities without the role that permits calls. */
  readonly withoutRole: Set<string>;
  isDisabled: boolean;
  /** The number of further calls that are answered 429. */
  throttledCalls: number;
  /** Files in buckets of the project, by `gs://bucket/name`. */
  readonly objects: Map<string, Uint8Array>;
  readonly requests: CloudRequest[];
};

type Refusal = { readonly status: number; readonly name: string; readonly message: string; readonly reason?: string };

/** Flags that the service knows. */
const knownBetas = new Set([
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'tool-search-tool-2025-10-19',
  'web-search-2025-03-05',
]);

type Route = {
  readonly project: string | undefined;
  readonly location: string;
  readonly publisher: string;
  readonly model: string;
  readonly method: string;
};

const modelPath = /^\/v1(?:beta1)?\/(?:projects\/([^/]+)\/locations\/([^/]+)\/)?publishers\/([^/]+)\/models\/([^/]+?):([A-Za-z]+)$/;
const openapiPath = /^\/v1(?:beta1)?\/projects\/([^/]+)\/locations\/([^/]+)\/endpoints\/openapi\/chat\/completions$/;

function readRoute(pathname: string): Route | undefined {
  const [, project, location = 'global', publisher = '', model = '', method = ''] = modelPath.exec(pathname) ?? [];
  if (model !== '') return { project, location, publisher, model: decodeURIComponent(model), method };
  const [, owner, place = ''] = openapiPath.exec(pathname) ?? [];
  return owner === undefined ? undefined : { project: owner, location: place, publisher: 'openapi', model: '', method: 'chat' };
}

function judgeCredential(state: VertexState, tokens: GoogleTokens, route: Route, headers: IncomingMessage['headers']): Refusal | undefined {
  const key = headers['x-goog-api-key'];
  if (typeof key === 'string' && headers.authorization === undefined) {
    if (route.project !== undefined || route.publisher !== 'google')
      return {
        status: 401,
        name: 'UNAUTHENTICATED',
        reason: 'ACCESS_TOKEN_TYPE_UNSUPPORTED',
        message: 'API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials.',
      };
    if (state.keys.has(key)) return undefined;
    return { status: 400, name: 'INVALID_ARGUMENT', reason: 'API_KEY_INVALID', message: 'API key not valid. Please pass a valid API key.' };
  }
  const identity = tokens.find((headers.authorization ?? '').replace(/^Bearer /, ''));
  if (identity === undefined)
    return {
      status: 401,
      name: 'UNAUTHENTICATED',
      message: 'Request had invalid authentication credentials. Expected OAuth 2 access token.',
    };
  if (state.isDisabled)
    return {
      status: 403,
      name: 'PERMISSION_DENIED',
      reason: 'SERVICE_DISABLED',
      message: `Vertex AI API has not been used in project ${state.project} before or it is disabled.`,
    };
  if (route.project === state.project && !state.withoutRole.has(identity)) return undefined;
  const resource = `//aiplatform.googleapis.com/projects/${route.project ?? ''}/locations/${route.location}`;
  return {
    status: 403,
    name: 'PERMISSION_DENIED',
    message: `Permission 'aiplatform.endpoints.predict' denied on resource '${resource}' (or it may not exist).`,
  };
}

function judgeModel(state: VertexState, { location, publisher, model, project }: Route): Refusal | undefined {
  if (publisher === 'openapi' || model === 'count-tokens') return undefined;
  if (state.models.get(location)?.has(model) === true || state.models.get('*')?.has(model) === true) return undefined;
  const name = `projects/${project ?? ''}/locations/${location}/publishers/${publisher}/models/${model}`;
  const message = `Publisher Model \`${name}\` was not found or your project does not have access to it.`;
  return { status: 404, name: 'NOT_FOUND', message };
}

/** The rules of Claude's body there: no model, its own version, and no flag that is not known. */
function judgeClaude({ method, model }: Route, headers: IncomingMessage['headers'], body: JsonRecord): string | undefined {
  const isCount = model === 'count-tokens';
  if (!isCount && body['model'] !== undefined) return 'model: Extra inputs are not permitted';
  if (!/^(?:vertex-2023-10-16|\d{4}-\d{2}-\d{2})$/.test(asText(body['anthropic_version']))) return 'anthropic_version: Field required';
  if (body['anthropic_beta'] !== undefined) return 'anthropic_beta: Extra inputs are not permitted';
  if (method === 'rawPredict' && body['stream'] === true) return 'stream: use streamRawPredict';
  const flags = String(headers['anthropic-beta'] ?? '')
    .split(',')
    .filter((flag) => flag !== '');
  const unknown = flags.find((flag) => !knownBetas.has(flag.trim()) || isCount);
  return unknown === undefined ? undefined : `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header.`;
}

function withoutCredential(vendor: SimulatedVendor): SimulatedVendor {
  return { ...vendor, authenticate: () => {} };
}

type Forward = { readonly vendor: SimulatedVendor; readonly path: string; readonly body: Buffer };

/** The call of the vendor that is behind a path. */
function forwardOf({ publisher, model, method }: Route, search: string, body: JsonRecord, bytes: Buffer): Forward | undefined {
  if (publisher === 'google') return { vendor: gemini, path: `/v1beta/models/${model}:${method}${search}`, body: bytes };
  if (publisher === 'openapi') {
    const named = asText(body['model']).replace(/^.*\//, '');
    return { vendor: openai, path: '/v1/chat/completions', body: Buffer.from(JSON.stringify({ ...body, model: named })) };
  }
  if (publisher !== 'anthropic') return undefined;
  const { anthropic_version: _version, ...rest } = body;
  const counted = model === 'count-tokens' ? asText(body['model']) : model;
  const stream = method === 'streamRawPredict' ? { stream: true } : {};
  const sent = { ...rest, ...stream, model: counted.replace('@', '-') };
  return {
    vendor: anthropic,
    path: model === 'count-tokens' ? '/v1/messages/count_tokens' : '/v1/messages',
    body: Buffer.from(JSON.stringify(sent)),
  };
}

/** The HTTP server of Vertex AI, for all locations: the model, the project and the credential are checked as there. */
export function createVertexServer(shared: SimulatorState, state: VertexState, tokens: GoogleTokens): Server {
  const simulated: SimulatorState = { ...shared, apiKeys: undefined };
  const videos = createDeskOf(
    simulated,
    withoutCredential(gemini),
    createVertexVideoRoutes((uri, file) => void state.objects.set(uri, file)),
  );
  const respond = (incoming: IncomingMessage, response: ServerResponse, bytes: Buffer): void => {
    const { pathname, search } = new URL(incoming.url ?? '/', 'http://vertex');
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const { method = 'GET', url = '' } = incoming;
    const keep = (status: number): void => void state.requests.push({ method, url, headers, body: bytes, status });
    const send = (status: number, body: object): void => {
      keep(status);
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
    };
    const refuse = ({ status, name, message, reason }: Refusal): void => {
      const details = reason === undefined ? {} : { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }] };
      const error = { error: { code: status, message, status: name, ...details } };
      send(status, pathname.includes(':stream') ? [error] : error);
    };
    const route = readRoute(pathname);
    if (method === 'GET' && pathname === '/v1beta1/publishers/google/models') {
      const refused = judgeCredential(
        state,
        tokens,
        { project: state.project, location: '', publisher: 'google', model: '', method: '' },
        incoming.headers,
      );
      return refused === undefined ? send(200, { publisherModels: [] }) : refuse(refused);
    }
    if (route === undefined) return refuse({ status: 404, name: 'NOT_FOUND', message: 'The requested URL was not found on this server.' });
    const refused = judgeCredential(state, tokens, route, incoming.headers) ?? judgeModel(state, route);
    if (refused !== undefined) return refuse(refused);
    if (state.throttledCalls > 0) {
      state.throttledCalls -= 1;
      return refuse({ status: 429, name: 'RESOURCE_EXHAUSTED', message: 'Resource exhausted. Please try again later.' });
    }
    const body = parseRecord(bytes) ?? {};
    const wrong = route.publisher === 'anthropic' ? judgeClaude(route, incoming.headers, body) : undefined;
    if (wrong !== undefined) return send(400, { type: 'error', error: { type: 'invalid_request_error', message: wrong } });
    if (route.publisher === 'google') {
      try {
        const embedded = embedAtVertex(route.model, route.method, body);
        if (embedded !== undefined) return send(200, embedded);
      } catch (error) {
        if (error instanceof VendorError) return send(error.status, error.body as object);
        throw error;
      }
    }
    if (route.publisher === 'google' && /^(?:predictLongRunning|fetchPredictOperation)$/.test(route.method)) {
      keep(200);
      return void videos.answer(incoming, response, bytes);
    }
    const forward = forwardOf(route, search, body, bytes);
    if (forward === undefined) return refuse({ status: 404, name: 'NOT_FOUND', message: 'The publisher was not found.' });
    keep(200);
    incoming.url = forward.path;
    incoming.headers['authorization'] = 'Bearer simulated';
    incoming.headers['x-api-key'] = 'simulated';
    incoming.headers['x-goog-api-key'] = 'simulated';
    incoming.headers['anthropic-version'] = '2023-06-01';
    void answerCall(simulated, withoutCredential(forward.vendor), incoming, response, forward.body);
  };
  return createWholeServer(respond);
}
