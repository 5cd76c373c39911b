import type { IncomingMessage } from 'node:http';
import { MonitorError } from './monitor-error.ts';

/**
 * The billing token of a request. Reads the raw headers, because Node joins repeated ones. Two different tokens are
 * refused: whichever the monitor used, an intermediary might have used the other. Throws MonitorError 401, whose
 * message never contains a token.
 */
export function readToken(request: Pick<IncomingMessage, 'rawHeaders'>): string {
  const tokens = new Set<string>();
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'token') tokens.add(rawHeaders[index + 1]?.trim() ?? '');
  }
  tokens.delete('');
  if (tokens.size > 1) throw new MonitorError(401, 'the request has two different tokens; send one');
  const [token] = tokens;
  if (token === undefined) throw new MonitorError(401, 'a billing token is required: send it in the header "token"');
  return token;
}
