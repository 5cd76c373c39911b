import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** A request as it reached a service. */
export type CloudRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly status: number;
};

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void | Promise<void>;

/** A server that answers requests whose bodies have come. An answer that fails ends the connection. */
export function createWholeServer(answer: Answer): Server {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => {
      Promise.try(answer, request, response, Buffer.concat(chunks)).catch(() => response.destroy());
    });
  });
  server.keepAliveTimeout = 120_000;
  return server;
}
