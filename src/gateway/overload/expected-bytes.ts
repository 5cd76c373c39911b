import type { IncomingMessage } from 'node:http';

/**
 * The bytes that a request's body may take: what it declares, and the most that is allowed where it declares nothing or is compressed.
 * More than is allowed counts as that: such a request is refused before its body is read.
 */
export function expectedBytes({ headers }: IncomingMessage, requestBytesMax: number): number {
  if (headers['content-encoding'] !== undefined) return requestBytesMax;
  const declared = headers['content-length'];
  if (declared !== undefined) return Math.min(Number(declared), requestBytesMax);
  return headers['transfer-encoding'] === undefined ? 0 : requestBytesMax;
}
