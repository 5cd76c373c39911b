import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { type CloudRequest, createWholeServer } from '../whole-request.ts';
import { parseRecord } from '../../read-json.ts';
import { answerCall } from '../../answer-call.ts';
import type { SimulatedVendor } from '../../simulated-vendor.ts';
import type { SimulatorState } from '../../simulator-state.ts';
import { anthropic } from '../../vendors/anthropic/anthropic.ts';
import { openai } from '../../vendors/openai/openai.ts';
import { createVideoDesk } from '../../videos/answer-video-call.ts';
import type { AzureTokens } from './azure-tokens.ts';
import { type AzureRefusal, type AzureRoute, findRoute } from './azure-routes.ts';
import { annotate, type FilterMode, refusePrompt } from './content-filter.ts';

/** A model that is deployed under a name. */
export type AzureDeployment = { readonly model: string; readonly filter?: FilterMode };

/** The state of a resource, which tests change while it runs. */
export type ResourceState = {
  readonly keys: Set<string>;
  readonly deployments: Map<string, AzureDeployment>;
  /** Client ids without the role that permits calls. */
  readonly withoutRole: Set<string>;
  /** Further calls of a deployment that are throttled, and the wait that is named. */
  readonly throttled: Map<string, { calls: number; readonly retryAfterMs: number }>;
  readonly requests: CloudRequest[];
};

const subscriptionWords =
  'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.';

const audiences = {
  v1: ['https://ai.azure.com', 'https://cognitiveservices.azure.com'],
  dated: ['https://cognitiveservices.azure.com'],
  anthropic: ['https://ai.azure.com', 'https://cognitiveservices.azure.com'],
} as const;

/** Checks the credential as the service does: a key (on v1 also as a bearer token), or a token of Entra ID. */
function judgeCredential(
  { keys, withoutRole }: ResourceState,
  tokens: AzureTokens,
  { surface }: AzureRoute,
  headers: IncomingMessage['headers'],
): AzureRefusal | undefined {
  const key = headers['api-key'] ?? (surface === 'anthropic' ? headers['x-api-key'] : undefined);
  if (typeof key === 'string') return keys.has(key) ? undefined : { status: 401, code: '401', message: subscriptionWords };
  const token = /^bearer +(.+)$/i.exec(headers['authorization'] ?? '')?.[1];
  if (token === undefined) return { status: 401, code: '401', message: subscriptionWords };
  if (surface === 'v1' && keys.has(token)) return undefined;
  const verdict = tokens.judge(token, audiences[surface]);
  if (verdict !== 'accepted') {
    const message = `Access token is missing, invalid, audience is incorrect (${audiences[surface].at(-1)}), or have expired.`;
    return { status: 401, code: 'Unauthorized', message };
  }
  if (!withoutRole.has(tokens.find(token)?.clientId ?? '')) return undefined;
  return { status: 401, code: 'PermissionDenied', message: 'Principal does not have access to API/Operation.' };
}

const modelPart = /(name="model"\r\n\r\n)([^\r\n]+)/;

/** The name of the deployment in a body: a member of JSON, or a part of a form. */
function modelIn(body: Buffer): string | undefined {
  const model = parseRecord(body)?.['model'];
  return typeof model === 'string' ? model : modelPart.exec(body.toString('latin1'))?.[2];
}

/** The body with the model's own name, as the vendor behind the deployment knows it. */
function withModel(body: Buffer, model: string): Buffer {
  const parsed = parseRecord(body);
  if (parsed !== undefined) return Buffer.from(JSON.stringify({ ...parsed, model }));
  const text = body.toString('latin1');
  if (modelPart.test(text)) return Buffer.from(text.replace(modelPart, `$1${model}`), 'latin1');
  // Under dated versions a form has no model, so its first part becomes one.
  const boundary = /^--([^\r\n]+)\r\n/.exec(text)?.[1];
  if (boundary === undefined) return body;
  return Buffer.concat([Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`), body]);
}

/** The vendor behind a resource: its replies with the annotations of the filter, and the headers of Azure. */
function behind(vendor: SimulatedVendor, filter: FilterMode): SimulatedVendor {
  return {
    ...vendor,
    authenticate: () => {},
    handle: (request, planReply) => {
      const reply = vendor.handle(request, planReply);
      const isChat = request.path === '/v1/chat/completions';
      return reply !== undefined && isChat && (reply.type === 'stream' || reply.status === 200) ? annotate(reply, filter) : reply;
    },
    commonHeaders: (request) => ({
      'apim-request-id': request.requestId ?? '',
      'x-ms-region': 'Simulated Central',
      'x-ratelimit-remaining-requests': '99',
      'x-ratelimit-remaining-tokens': '99000',
    }),
  };
}

/** The HTTP server of one resource of Azure OpenAI, with Claude of Foundry beside it. */
export function createResourceServer(shared: SimulatorState, state: ResourceState, tokens: AzureTokens): Server {
  // Credentials are those of Azure, which this server has checked already.
  const simulated: SimulatorState = { ...shared, apiKeys: undefined };
  const respond = (incoming: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const url = new URL(incoming.url ?? '/', 'http://resource');
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const { method = 'GET' } = incoming;
    const keep = (status: number): void => void state.requests.push({ method, url: incoming.url ?? '', headers, body, status });
    const refuse = ({ status, code, message }: AzureRefusal, extra: Readonly<Record<string, string>> = {}): void => {
      keep(status);
      response.writeHead(status, { 'content-type': 'application/json', 'apim-request-id': 'simulated', ...extra });
      response.end(JSON.stringify({ error: { code, message } }));
    };
    const route = findRoute(url.pathname, url.searchParams);
    if ('status' in route) return refuse(route);
    const refused = judgeCredential(state, tokens, route, incoming.headers);
    if (refused !== undefined) return refuse(refused);
    if (method !== 'POST') return forward(route, undefined, body);
    const name = route.deployment ?? modelIn(body);
    // A video names its model when it is made; everything else that is posted needs a deployment.
    const deployment = name === undefined ? undefined : state.deployments.get(name);
    if (deployment === undefined)
      return refuse({
        status: 404,
        code: 'DeploymentNotFound',
        message:
          'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      });
    const throttle = name === undefined ? undefined : state.throttled.get(name);
    if (throttle !== undefined && throttle.calls > 0) {
      throttle.calls -= 1;
      const seconds = Math.ceil(throttle.retryAfterMs / 1000);
      const message = `Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after ${seconds} seconds.`;
      const waits = { 'retry-after': String(seconds), 'retry-after-ms': String(throttle.retryAfterMs) };
      return refuse({ status: 429, code: '429', message }, { ...waits, 'x-ratelimit-remaining-tokens': '4000' });
    }
    const filtered = deployment.filter === 'off' || route.vendor === 'anthropic' ? undefined : refusePrompt(body.toString());
    if (filtered !== undefined) {
      keep(400);
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(filtered));
    }
    return forward(route, deployment, withModel(body, deployment.model));

    function forward({ vendor: which, vendorPath }: AzureRoute, deployed: AzureDeployment | undefined, written: Buffer): void {
      keep(200);
      const vendor = behind(which === 'openai' ? openai : anthropic, deployed?.filter ?? 'default');
      incoming.url = vendorPath;
      incoming.headers['authorization'] = 'Bearer simulated';
      if (which === 'anthropic') incoming.headers['x-api-key'] = 'simulated';
      const videos = createVideoDesk(simulated, vendor);
      if (videos?.takes(incoming) === true) void videos.answer(incoming, response, written);
      else void answerCall(simulated, vendor, incoming, response, written);
    }
  };
  return createWholeServer(respond);
}
