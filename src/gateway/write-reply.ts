import type { ServerResponse } from 'node:http';

import type { ChatDialect } from '../dialects/chat-dialect.ts';
import type { GatewayError } from '../inference/gateway-error.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { requestIdHeader } from './exchange/reply-headers.ts';

/** Writes a whole reply. Does nothing when the client has gone. */
export function writeReply(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': String(body.length) });
  response.end(body);
}

/** Writes an error in the client's dialect. */
export function writeError(
  response: ServerResponse,
  dialect: ChatDialect,
  error: GatewayError,
  requestId: string,
  framing?: StreamFraming,
): void {
  const reply = dialect.encodeError(error, requestId, framing);
  writeReply(response, reply.status, { ...reply.headers, ...error.headers, [requestIdHeader]: requestId }, reply.body);
}
