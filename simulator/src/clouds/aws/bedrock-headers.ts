import type { IncomingMessage } from 'node:http';
import type { AwsState } from './aws-state.ts';

/** Headers that belong to one connection, or to AWS. */
const ownHeaders = /^(?:host|connection|content-length|transfer-encoding|keep-alive|authorization|x-api-key|x-amz-.*|accept-encoding)$/;

/** The headers for a simulated maker: those that steer it, and a key. */
export function makersHeaders(state: AwsState, { headers }: IncomingMessage): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string' && !ownHeaders.test(name)) passed[name] = value;
  return { ...passed, authorization: `Bearer ${state.vendorKey}`, 'x-api-key': state.vendorKey };
}
