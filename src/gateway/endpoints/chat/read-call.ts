import type { IncomingCall } from './incoming-call.ts';

import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { readAltFraming, readGenerateContentPath } from '../../admission/request-target.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';

/** What the path of a chat says of it. */
export type ChatPath = {
  readonly dialect: DialectId;
  readonly operation: Operation;
  readonly pathModel?: string;
  readonly pathFraming?: StreamFraming;
};

/**
 * What the rest of a path of generate-content and its query say of the call: they hold the model and the method.
 * @throws GatewayError `route_not_found` for an unknown method after the colon
 */
export function readModelMethod(rest: string, query: URLSearchParams): ChatPath {
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

/** A request to a path of chats as the call that it is. */
export function readCall({ dialect, operation, pathModel, pathFraming }: ChatPath, http: EndpointRequest): IncomingCall {
  const { callId, request, response, target } = http;
  return { callId, request, response, dialect: chatDialects[dialect], operation, pathModel, pathFraming, queryKeys: target.queryKeys };
}
