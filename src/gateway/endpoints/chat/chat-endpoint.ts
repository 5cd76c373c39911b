import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import { type Endpoint, type EndpointRoute } from '../shared/endpoint.ts';
import { dialectOfHeaders, type RequestHeaders, type Wording, wordingOf } from '../shared/wording.ts';
import type { ChatServices } from './chat-services.ts';
import { chatOperation } from './open-api/chat-operations.ts';
import { quoteChat } from './quote/quote-chat.ts';
import { serveChat } from './serve-chat.ts';

function route(path: string, dialect: DialectId, operation: Operation): EndpointRoute<ChatServices> {
  const chatPath = { dialect, operation };
  return {
    method: 'POST',
    path,
    identifiedBy: 'body',
    ...(operation === 'count-tokens' ? {} : { quote: () => (question) => quoteChat(question, { dialect, operation }) }),
    openApi: { operation: () => chatOperation(dialect, operation, operation === 'generate') },
    serve: (services, http) => serveChat(services, http, chatPath),
  };
}

/** The headers of an SDK decide before a path that several interfaces could share. */
function wording(path: string, headers: RequestHeaders): Wording {
  if (path.startsWith('/v1/messages')) return wordingOf('anthropic-messages');
  const dialect = dialectOfHeaders(headers);
  return wordingOf(dialect === 'openai-chat' && path.startsWith('/v1/responses') ? 'openai-responses' : dialect);
}

/** Chats whose body names the model: messages, responses and chat completions. */
export const chatEndpoint: Endpoint<ChatServices> = {
  name: 'chat',
  routes: [
    route('/v1/messages', 'anthropic-messages', 'generate'),
    route('/v1/messages/count_tokens', 'anthropic-messages', 'count-tokens'),
    route('/v1/responses', 'openai-responses', 'generate'),
    route('/v1/responses/compact', 'openai-responses', 'compact'),
    route('/v1/responses/input_tokens', 'openai-responses', 'count-tokens'),
    route('/v1/chat/completions', 'openai-chat', 'generate'),
  ],
  voice: { owns: (path) => /^\/v1\/(?:messages|responses|chat\/completions)/.test(path), wording },
};
