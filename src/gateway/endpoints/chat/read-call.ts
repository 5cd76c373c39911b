import type { IncomingCall } from './incoming-call.ts';

import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { readAltFraming, readGenerateContentPath } from '../../admission/read-request.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';

/** The facts that the path of a chat states. */
export type ChatPath = {
  readonly dialect: DialectId;
  readonly operation: Operation;
  readonly pathModel?: string;
  readonly pathFraming?: StreamFraming;
};

/**
 * Reads model and method from the rest of a path of generate-content and its query.
 * @throws GatewayError `route_not_found` for an unknown method after the colon
 */
export function readModelMethod(rest: string, query: URLSearchParams): ChatPath {
  const dialect = 'gemini-generate-content';
  const path = readGenerateContentPath(rest);
  if (path === undefined || path.model === '') throw new GatewayError('route_not_found', 'the path does not name a model');
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
        `models have no method ${JSON.stringify((action ?? '').slice(0, 40))}; use generateContent, streamGenerateContent or countTokens`,
      );
  }
}

/** Turns a request to a path of chats into a call. */
export function readCall({ dialect, operation, pathModel, pathFraming }: ChatPath, http: EndpointRequest): IncomingCall {
  const { callId, request, response, target } = http;
  return { callId, request, response, dialect: chatDialects[dialect], operation, pathModel, pathFraming, queryKeys: target.queryKeys };
}
