import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerCall } from './answer-call.ts';
import type { SimulatedVendor } from './simulated-vendor.ts';
import type { SimulatorState } from './simulator-state.ts';
import { createVideoDesk } from './videos/answer-video-call.ts';

const bodyBytesMax = 67_108_864;

/** The HTTP server of one vendor: reads whole requests and answers them. It does not listen yet. */
export function createVendorServer(state: SimulatorState, vendor: SimulatedVendor): Server {
  const videos = createVideoDesk(state, vendor);
  const server = createServer((request, response) =>
    readBody(vendor, request, response, (body) => {
      if (videos?.takes(request) === true) void videos.answer(request, response, body);
      else void answerCall(state, vendor, request, response, body);
    }),
  );
  // Longer than a gateway's pool keeps idle connections, so that the simulator never closes a connection that is about
  // to be used.
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 300_000;
  // A connection that breaks before a request is complete is not a call.
  server.on('clientError', (_error, socket) => socket.destroy());
  return server;
}

function readBody(vendor: SimulatedVendor, request: IncomingMessage, response: ServerResponse, answer: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  });
  request.on('end', () => {
    const [only] = chunks;
    if (bytes <= bodyBytesMax) return answer(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    response.writeHead(413, { 'content-type': 'application/json' });
    response.end(JSON.stringify(vendor.errorBody(413, `Request exceeds the maximum size of ${bodyBytesMax} bytes.`)));
  });
  // An incomplete upload is not a call either; the connection is already closed.
  request.on('error', () => response.destroy());
}
