import type { IncomingMessage } from 'node:http';

import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { readAltFraming, readGenerateContentPath, type RequestTarget } from '../../admission/request-target.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { ChatRoute } from './chat-route.ts';
import type { IncomingCall } from './incoming-call.ts';

type Described = {
  readonly dialect: DialectId;
  readonly operation: Operation;
  readonly pathModel?: string;
  readonly pathFraming?: StreamFraming;
};

function describeGenerateContent(rest: string, query: URLSearchParams): Described {
  const dialect = 'gemini-generate-content';
  const path = readGenerateContentPath(rest);
  if (path === undefined || path.model === '') throw new GatewayError('route_not_found', 'the path names no model');
  const { model, action } = path;
  switch (action) {
    case 'generateContent':
      return { dialect, operation: 'generate', pathModel: model };
    case 'streamGenerateContent':
      return { dialect, operation: 'generate', pathModel: model, pathFraming: readAltFraming(query) };
    case 'countTokens':
      return { dialect, operation: 'count-tokens', pathModel: model };
    case undefined:
    default:
      throw new GatewayError(
        'route_not_found',
        `there is no method ${JSON.stringify((action ?? '').slice(0, 40))} on models; there are generateContent, streamGenerateContent and countTokens`,
      );
  }
}

/**
 * What a chat route, the rest of its path and its query say of the call.
 * @throws GatewayError `route_not_found` for an unknown method after the colon
 */
export function describeChatRoute(route: ChatRoute, rest: string, query: URLSearchParams): Described {
  return route.type === 'chat' ? { dialect: route.dialect, operation: route.operation } : describeGenerateContent(rest, query);
}

/**
 * Completes a matched chat route with what the path and the query say.
 * @throws GatewayError `route_not_found` for an unknown method after the colon
 */
export function readCall(
  route: ChatRoute,
  rest: string,
  target: RequestTarget,
  http: { readonly callId: string; readonly request: IncomingMessage; readonly response: ClientReply },
): IncomingCall {
  const { dialect, operation, pathModel, pathFraming } = describeChatRoute(route, rest, target.query);
  const { callId, request, response } = http;
  return { callId, request, response, dialect: chatDialects[dialect], operation, pathModel, pathFraming, queryKeys: target.queryKeys };
}
