import type { IncomingMessage } from 'node:http';

import { heldStepBytes } from '../../../platform/http/read-body.ts';

/**
 * What is counted of a request's body before any of it has come: what it declares, but no more than a step. More is counted as it comes, so that a client that
 * declares much and sends nothing keeps nobody out.
 */
export function expectedBytes({ headers }: IncomingMessage): number {
  const declared = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : heldStepBytes));
  return Math.min(declared, heldStepBytes);
}
