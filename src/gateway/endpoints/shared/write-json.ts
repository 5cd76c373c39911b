import type { ClientReply } from '../../replies/client-reply.ts';
import { requestIdHeader, writeReply } from '../../replies/write-reply.ts';

/** Writes an answer as JSON. */
export function writeJson(
  { response, callId }: { readonly response: ClientReply; readonly callId: string },
  status: number,
  answer: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const all = { 'content-type': 'application/json', ...headers, [requestIdHeader]: callId };
  writeReply(response, status, all, Buffer.from(JSON.stringify(answer)));
}
