import { readAltFraming, type RequestTarget } from '../../admission/read-request.ts';
import type { Endpoint, EndpointRoute, PathMatch, Quote } from '../shared/endpoint.ts';
import { namesModelMethod, speaksGenerateContent } from '../shared/model-paths.ts';
import { type Wording, wordingOf } from '../shared/wording.ts';
import type { ChatServices } from './chat-services.ts';
import { generateContentPaths } from './open-api/chat-operations.ts';
import { quoteChat } from './quote/quote-chat.ts';
import { readModelMethod } from './read-call.ts';
import { serveChat } from './serve-chat.ts';

function route(path: string): EndpointRoute<ChatServices> {
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
function wording(path: string): Wording {
  const isStream = /(?::|%3a)streamGenerateContent$/i.test(path);
  return { ...wordingOf('gemini-generate-content'), ...(isStream ? { framing: readAltFraming } : {}) };
}

/** Chats whose path names the model and the method. */
export const generateContentEndpoint: Endpoint<ChatServices> = {
  name: 'generate-content',
  routes: [route('/v1/models/*'), route('/v1alpha/models/*'), route('/v1beta/models/*')],
  voice: { owns: speaksGenerateContent, wording },
};
