import type { IncomingCall } from './incoming-call.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';

/** A call's request as its dialect reads it. */
export function toWireRequest(call: IncomingCall, body: WireRequest['body']): WireRequest {
  return {
    operation: call.operation,
    body,
    // Node joins repeated headers into one string. Only set-cookie would be a list, and no client sends it.
    headers: call.request.headers as WireRequest['headers'],
    pathModel: call.pathModel,
    pathFraming: call.pathFraming,
  };
}
