import { type IncomingMessage, maxHeaderSize, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { closeIfSilent } from '../../platform/http/silent-connection.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import { serverSettings } from './client-pace.ts';

/** What Node's server emits with `clientError`. `reason` is a fixed text of its parser, without bytes of the client. */
type ParserError = Error & { readonly code?: string; readonly reason?: string };

const second = 1000;

/** Answers bytes that are not an HTTP request, in the form that most clients read, and ends the connection. */
export function refuseMalformed(error: ParserError, socket: Duplex, { telemetry }: Pick<Gateway, 'telemetry'>): void {
  if (closeIfSilent(error, socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  telemetry.malformed('invalid_http_request');
  const [status, message] = describe(error);
  const body = encode(message);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Refuses an `Expect` other than `100-continue`, for Node's event `checkExpectation` (RFC 9110, 10.1.1). */
export function refuseExpectation({ telemetry }: Pick<Gateway, 'telemetry'>, response: ServerResponse<IncomingMessage>): void {
  telemetry.malformed('invalid_http_request');
  const body = encode('the Expect header must be 100-continue; omit it otherwise');
  // The body that may follow is not read, and must not be taken for the next request.
  response.writeHead(417, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), connection: 'close' }).end(body);
}

function describe({ code, reason }: ParserError): readonly [status: string, message: string] {
  if (code === 'HPE_HEADER_OVERFLOW')
    return ['431 Request Header Fields Too Large', `the headers of a request must not be larger than ${maxHeaderSize} bytes together`];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return [
      '408 Request Timeout',
      `the request did not arrive in time: its headers must arrive within ${serverSettings.headersTimeout / second} seconds`,
    ];
  return ['400 Bad Request', `this is not a valid HTTP/1.1 request${reason === undefined ? '' : `: ${reason}`}`];
}

function encode(message: string): string {
  return JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'invalid_http_request' } });
}
