import type { IncomingMessage } from 'node:http';

import type { RecordedChat } from '../../../content/records/recorded-call.ts';
import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { readAltFraming, readGenerateContentPath } from '../../admission/read-request.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { CloudForm } from './clouds/open-chat.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ResponseTurn } from './responses/response-turn.ts';

/** A request to a chat route. */
export type IncomingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly dialect: ChatDialect;
  readonly operation: Operation;
  readonly queryKeys: readonly string[];
  readonly pathModel?: string | undefined;
  readonly pathFraming?: StreamFraming | undefined;
  /** Present if the request is on a cloud's path, in the cloud's form. */
  readonly cloud?: CloudForm | undefined;
  /** The headers as a client of the dialect's vendor would have sent them. Absent: those of the request. */
  readonly headers?: WireRequest['headers'];
};

/** The interface of a chat, as its recording needs it. */
export function recordedChat({ dialect, operation, pathModel, pathFraming }: IncomingCall): RecordedChat {
  return {
    dialect: dialect.id,
    operation,
    ...(pathModel === undefined ? {} : { pathModel }),
    ...(pathFraming === undefined ? {} : { pathFraming }),
  };
}

/** The facts that the path of a chat states. */
export type ChatPath = {
  readonly dialect: DialectId;
  readonly operation: Operation;
  readonly pathModel?: string;
  readonly pathFraming?: StreamFraming;
  readonly cloud?: CloudForm;
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
export function readCall({ dialect, operation, pathModel, pathFraming, cloud }: ChatPath, http: EndpointRequest): IncomingCall {
  const { callId, request, response, target } = http;
  const { queryKeys } = target;
  return { callId, request, response, dialect: chatDialects[dialect], operation, pathModel, pathFraming, queryKeys, cloud };
}

/** A call's request as its dialect reads it. */
export function toWireRequest(call: IncomingCall, body: WireRequest['body']): WireRequest {
  return {
    operation: call.operation,
    body,
    // Node joins repeated headers into one string. Only set-cookie would be a list, and no client sends it.
    headers: call.headers ?? (call.request.headers as WireRequest['headers']),
    pathModel: call.pathModel,
    pathFraming: call.pathFraming,
  };
}

/** A chat that is prepared for its first attempt. */
export type PreparedCall = AttemptedCall & {
  readonly report: CallReport;
  readonly call: IncomingCall;
  /** The request in the neutral form if the gateway makes the call itself: in a round of a loop. */
  readonly neutral?: InferenceRequest;
  /** Present if it continues a stored response, or is to be stored. */
  readonly turn?: ResponseTurn | undefined;
};
