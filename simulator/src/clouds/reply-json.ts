import type { ServerResponse } from 'node:http';

/** Answers a request with a document. */
export function replyJson(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
