import type { ErrorVoice } from '../../dialects/error-voice.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import { requestIdHeader } from './reply-headers.ts';
import type { ClientReply } from './client-reply.ts';

/** Node sends a text together with the head in one piece, and bytes as a second one. Beyond this, making a text costs more than it spares. */
const textBytesMax = 16 * 1024;

/** Writes a whole reply. Does nothing when the client has gone. */
export function writeReply(response: ClientReply, status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  const list: string[] = [];
  for (const name in headers) if (name !== 'content-length') list.push(name, headers[name] ?? '');
  list.push('content-length', String(body.length));
  response.writeHead(status, list);
  // One character per byte: the bytes arrive as they are.
  if (body.length <= textBytesMax) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}

/** Writes an error as the client's interface words it. */
export function writeError(
  response: ClientReply,
  voice: ErrorVoice,
  error: GatewayError,
  requestId: string,
  framing?: StreamFraming,
): void {
  const reply = voice.encodeError(error, requestId, framing);
  writeReply(response, reply.status, { ...reply.headers, ...error.headers, [requestIdHeader]: requestId }, reply.body);
}
