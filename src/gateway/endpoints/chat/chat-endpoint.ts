import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import type { Endpoint, EndpointRoute, PathMatch, Quote } from '../shared/endpoint.ts';
import {
  type RequestHeaders,
  type Wording,
  dialectOfHeaders,
  namesModelMethod,
  speaksGenerateContent,
  wordingOf,
} from '../shared/wording.ts';
import type { ChatServices } from './chat-services.ts';
import { chatOperation, generateContentPaths } from './open-api/chat-operations.ts';
import { quoteChat } from './quote-chat.ts';
import { serveChat } from './run-call.ts';
import { type RequestTarget, readAltFraming } from '../../admission/read-request.ts';
import { type ChatPath, readModelMethod } from './incoming-call.ts';
import { quoteCloud } from './clouds/quote-cloud.ts';

function bodyRoute(path: string, dialect: DialectId, operation: Operation): EndpointRoute<ChatServices> {
  const chatPath = { dialect, operation };
  return {
    method: 'POST',
    path,
    identifiedBy: 'body',
    ...(operation === 'count-tokens' ? {} : { quote: (_match, target) => quoteCloud(ofDeployment(chatPath, target)) }),
    openApi: { operation: () => chatOperation(dialect, operation, operation === 'generate') },
    serve: (services, http) => serveChat(services, http, ofDeployment(chatPath, http.target)),
  };
}

/** The path of a deployment of Azure names the model. */
function ofDeployment(path: ChatPath, { model, isOfCloud }: RequestTarget): ChatPath {
  if (model === undefined) return isOfCloud === true ? { ...path, cloud: {} } : path;
  return { ...path, cloud: { model } };
}

/** The headers of an SDK decide before a path that several interfaces could share. */
function bodyWording(path: string, headers: RequestHeaders): Wording {
  if (path.startsWith('/v1/messages')) return wordingOf('anthropic-messages');
  const dialect = dialectOfHeaders(headers);
  return wordingOf(dialect === 'openai-chat' && path.startsWith('/v1/responses') ? 'openai-responses' : dialect);
}

/** Chats whose body names the model: messages, responses and chat completions. */
export const chatEndpoint: Endpoint<ChatServices> = {
  name: 'chat',
  routes: [
    bodyRoute('/v1/messages', 'anthropic-messages', 'generate'),
    bodyRoute('/v1/messages/count_tokens', 'anthropic-messages', 'count-tokens'),
    bodyRoute('/v1/responses', 'openai-responses', 'generate'),
    bodyRoute('/v1/responses/compact', 'openai-responses', 'compact'),
    bodyRoute('/v1/responses/input_tokens', 'openai-responses', 'count-tokens'),
    bodyRoute('/v1/chat/completions', 'openai-chat', 'generate'),
  ],
  voice: { owns: (path) => /^\/v1\/(?:messages|responses|chat\/completions)/.test(path), wording: bodyWording },
};

function pathRoute(path: string): EndpointRoute<ChatServices> {
  return {
    method: 'POST',
    path,
    // A POST without a method gets the list of methods. Such a path is not suggested to other requests.
    isNamedFor: namesModelMethod,
    identifiedBy: 'body',
    quote,
    openApi: { paths: () => generateContentPaths(path) },
    serve: (services, http, { rest }) => serveChat(services, http, readModelMethod(rest, http.target.query)),
  };
}

function quote({ rest }: PathMatch, { query }: RequestTarget): Quote<ChatServices> | undefined {
  const { operation, ...path } = readModelMethod(rest, query);
  return operation === 'count-tokens' ? undefined : (target) => quoteChat(target, { ...path, operation });
}

/** Only array streams word errors differently, and only on the path that asks for one. */
function pathWording(path: string): Wording {
  const isStream = /(?::|%3a)streamGenerateContent$/i.test(path);
  return { ...wordingOf('gemini-generate-content'), ...(isStream ? { framing: readAltFraming } : {}) };
}

/** Chats whose path names the model and the method. */
export const generateContentEndpoint: Endpoint<ChatServices> = {
  name: 'generate-content',
  routes: [pathRoute('/v1/models/*'), pathRoute('/v1alpha/models/*'), pathRoute('/v1beta/models/*')],
  voice: { owns: speaksGenerateContent, wording: pathWording },
};
