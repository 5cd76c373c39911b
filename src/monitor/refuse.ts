import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { closeIfSilent } from '../platform/http/silent-connection.ts';
import type { Logger } from '../platform/log.ts';
import { MonitorError, type MonitorErrorStatus, encodeRefusal } from './monitor-error.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The methods of each path. */
const methods: Readonly<Record<string, string>> = {
  '/bill/stats': 'POST',
  '/bill/excel': 'POST',
  '/bill/csv': 'POST',
  '/bill/jsonl': 'POST',
  '/health': 'GET, HEAD',
  '/health/live': 'GET, HEAD',
  '/health/ready': 'GET, HEAD',
};

/** Hook: 405 for a known path and 404 for any other, before the body is read. */
export async function refuseUnknownRoute(request: FastifyRequest): Promise<void> {
  if (!request.is404) return;
  const path = (request.raw.url ?? '').split('?', 1)[0] ?? '';
  const allow = Object.hasOwn(methods, path) ? methods[path] : undefined;
  if (allow === undefined) throw new MonitorError(404, `unknown path; use POST /bill/stats, /bill/excel, /bill/csv or /bill/jsonl`);
  throw new MonitorError(405, `${path} does not accept ${request.method}; use ${allow}`, { headers: { allow } });
}

/**
 * Answers any error in the envelope. An error that the caller did not cause is logged, and the caller gets no internal
 * detail.
 */
export function createErrorHandler(logger: Logger, bodyBytesMax: number) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refusal = error instanceof MonitorError ? error : explainFrameworkError(error, bodyBytesMax);
    // Work that ended because the client disconnected is not a failure.
    if (refusal.status >= 500 && !reply.raw.destroyed) {
      logger.error({ err: refusal.cause ?? error, status: refusal.status, method: request.method, url: request.url }, refusal.message);
    }
    // These headers describe the answer that is replaced.
    reply.removeHeader('content-disposition');
    return reply
      .code(refusal.status)
      .headers(refusal.headers)
      .header('cache-control', 'no-store')
      .type(JSON_TYPE)
      .send(encodeRefusal(refusal.status, refusal.message));
  };
}

function explainFrameworkError(error: FastifyError | Error, bodyBytesMax: number): MonitorError {
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return new MonitorError(413, `the body must not be larger than ${bodyBytesMax} bytes`);
  if (status === 415) return new MonitorError(415, 'Content-Type must be application/json');
  if (status !== undefined && status >= 400 && status < 500) return new MonitorError(400, 'the request is malformed', { cause: error });
  return new MonitorError(500, 'internal error', { cause: error });
}

/** Fastify's handler for paths that its router cannot read. */
export function refuseBadUrl(_error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  void reply.code(400).type(JSON_TYPE).send(encodeRefusal(400, 'the path is malformed'));
}

/**
 * Node's handler for bytes that are not an HTTP request, or are not complete in time. Fastify does not receive them.
 */
export function refuseMalformed(error: ConnectionError, socket: Socket): void {
  if (closeIfSilent(error, socket)) return;
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = malformedStatus(error.code);
  const body = encodeRefusal(status, STATUS_CODES[status]?.toLowerCase() ?? 'the request is malformed');
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function malformedStatus(code: string): MonitorErrorStatus {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}
