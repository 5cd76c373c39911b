import type { IncomingMessage, ServerResponse } from 'node:http';

import { askMaker } from './ask-maker.ts';
import type { AwsState } from './aws-state.ts';
import { makersHeaders } from './bedrock-headers.ts';

/** Lets the simulated maker behind an address answer a request, with the headers of AWS. */
export async function forwardToMaker(
  state: AwsState,
  url: string,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Promise<void> {
  const method = request.method ?? 'POST';
  const headers = makersHeaders(state, request);
  const reply = await askMaker(url, method === 'GET' ? { method, headers } : { method, headers, body });
  response.writeHead(reply.statusCode ?? 500, {
    'content-type': reply.headers['content-type'] ?? 'application/json',
    'x-amzn-requestid': 'simulated',
  });
  reply.pipe(response);
}
