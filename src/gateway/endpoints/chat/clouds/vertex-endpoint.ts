import { GatewayError } from '../../../../inference/gateway-error.ts';
import { type RequestTarget, readAltFraming } from '../../../admission/read-request.ts';
import type { Endpoint, EndpointRoute } from '../../shared/endpoint.ts';
import { type Wording, wordingOf } from '../../shared/wording.ts';
import type { ChatServices } from '../chat-services.ts';
import { type ChatPath, readModelMethod } from '../incoming-call.ts';
import { vertexPaths } from '../open-api/cloud-operations.ts';
import { serveChat } from '../run-call.ts';
import { quoteCloud } from './quote-cloud.ts';

const publisherPath = /\/publishers\/([^/]+)\/models\/(.+)$/;
const endpointPath = /\/endpoints\/([^/]+?)(\/chat\/completions|(?::|%3a)[^/]+)\/?$/i;

/**
 * Reads the path of a model in a project, or of a publisher's model without one.
 * @throws GatewayError `route_not_found`
 */
function readPath({ path, query }: RequestTarget): ChatPath {
  const [, publisher, model = ''] = publisherPath.exec(path) ?? [];
  if (publisher === 'google') return named(readModelMethod(model, query));
  if (publisher === 'anthropic') return readClaude(model);
  const [, endpoint = '', method = ''] = endpointPath.exec(path) ?? [];
  if (endpoint === 'openapi' && method === '/chat/completions') return { dialect: 'openai-chat', operation: 'generate', cloud: {} };
  if (publisher === undefined && endpoint !== '' && method.length > 0 && !method.startsWith('/'))
    return named(readModelMethod(endpoint + method, query));
  throw new GatewayError(
    'route_not_found',
    'no such path of Vertex AI here; use publishers/google/models/{model}:generateContent, publishers/anthropic/models/{model}:rawPredict ' +
      'or endpoints/openapi/chat/completions below projects/{project}/locations/{location}',
  );
}

function named(path: ChatPath): ChatPath {
  return path.pathModel === undefined ? path : { ...path, cloud: {} };
}

function readClaude(rest: string): ChatPath {
  const dialect = 'anthropic-messages';
  const [, model = '', method = ''] = /^(.+)(?::|%3a)(rawPredict|streamRawPredict)\/?$/i.exec(rest) ?? [];
  switch (method.toLowerCase()) {
    case 'rawpredict':
      if (model === 'count-tokens') return { dialect, operation: 'count-tokens', cloud: {} };
      return { dialect, operation: 'generate', cloud: { model: decode(model) } };
    case 'streamrawpredict':
      return { dialect, operation: 'generate', cloud: { model: decode(model), members: { stream: true } } };
    default:
      throw new GatewayError('route_not_found', 'models of this publisher have the methods rawPredict and streamRawPredict');
  }
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new GatewayError('route_not_found', 'the path does not name a model: its percent-encoding is invalid');
  }
}

function pathRoute(path: string): EndpointRoute<ChatServices> {
  return {
    method: 'POST',
    path,
    isNamedFor: (asked) => /(?::|%3a)[A-Za-z]+\/?$|\/chat\/completions\/?$/i.test(asked),
    identifiedBy: 'body',
    quote: (_match, target) => quoteCloud(readPath(target)),
    openApi: { paths: () => vertexPaths(path) },
    serve: (services, http) => serveChat(services, http, readPath(http.target)),
  };
}

const owned = /^\/v1(?:beta1)?\/(?:projects|publishers)\//;

/** Claude's errors are worded as at Anthropic, those of other models as at Google. */
function wording(path: string): Wording {
  if (path.includes('/publishers/anthropic/')) return wordingOf('anthropic-messages');
  if (path.includes('/chat/completions')) return wordingOf('openai-chat');
  const isStream = /(?::|%3a)streamGenerateContent$/i.test(path);
  return { ...wordingOf('gemini-generate-content'), ...(isStream ? { framing: readAltFraming } : {}) };
}

/** Gemini, Claude and models with chat completions on the paths of Vertex AI, for clients in their own Vertex mode. */
export const vertexEndpoint: Endpoint<ChatServices> = {
  name: 'vertex',
  routes: ['/v1/projects/*', '/v1beta1/projects/*', '/v1/publishers/*', '/v1beta1/publishers/*'].map(pathRoute),
  voice: { owns: (path) => owned.test(path), wording },
};
