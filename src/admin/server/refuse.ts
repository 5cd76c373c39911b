import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { PeopleError } from '../../accounts/people/people-error.ts';
import { isVersionMismatch } from '../../audit/change-author.ts';
import { ControlError } from '../../control/control-error.ts';
import { AccountsError } from '../../accounts/accounts-error.ts';
import { closeIfSilent } from '../../platform/http/silent-connection.ts';
import type { Logger } from '../../platform/log.ts';
import { isTransientFailure } from '../../platform/transient-failure.ts';
import type { Operation } from '../operation.ts';
import { AdminProblem, encodeProblem, unavailable } from '../problem.ts';
import { type ProblemCode, problemCodes } from '../problem-codes.ts';
import { apiPath } from './api-path.ts';
import { versionMismatch } from './if-match.ts';

const problemType = 'application/problem+json; charset=utf-8';

/** Hook: 405 for a known path and 404 for any other that is not a page, before the body is read. */
export function refuseUnknownRoute(
  operations: readonly Operation<never>[],
  isPage: (request: FastifyRequest) => boolean,
): (request: FastifyRequest) => Promise<void> {
  const paths = operations.map(({ path, method, passes }) => ({
    method,
    pattern: new RegExp(
      `^${apiPath}${path
        .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
        .replace(passes === undefined ? '' : /\{\w+\}$/, passes === undefined ? '' : '.+')
        .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
    ),
  }));
  return async (request) => {
    if (!request.is404 || isPage(request)) return;
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = [...new Set(paths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
    if (allowed.length === 0) throw new AdminProblem('unknown_path', `Unknown path; GET ${apiPath}/openapi.json lists all operations.`);
    const allow = allowed.join(', ');
    throw new AdminProblem('method_not_allowed', `The path accepts ${allow}, not ${request.method}.`, { headers: { allow } });
  };
}

/** Answers any error as a problem. An error that the caller did not cause is logged, without detail for the caller. */
export function createErrorHandler(logger: Logger, bodyBytesMax: number) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const problem = toProblem(error, request.routeOptions.bodyLimit ?? bodyBytesMax);
    if (problem.status >= 500 && !reply.raw.destroyed)
      logger.error(
        { err: problem.cause ?? error, status: problem.status, method: request.method, adminRequestId: request.id },
        'admin request failed',
      );
    reply.removeHeader('content-disposition');
    return reply
      .code(problem.status)
      .headers(problem.headers)
      .type(problemType)
      .send(JSON.stringify(encodeProblem(problem, request.id)));
  };
}

/** The problems of mistakes that are not a wrong value. */
const mistakeCodes: Readonly<Record<string, ProblemCode>> = {
  duplicate_name: 'name_taken',
  secret_in_use: 'conflict',
  conflict: 'conflict',
  team_in_use: 'conflict',
  last_operator: 'conflict',
  password_needed: 'conflict',
  signs_in_elsewhere: 'conflict',
  not_permitted: 'permission_required',
  operation_ended: 'conflict',
  input_too_large: 'body_too_large',
  stale: 'version_mismatch',
  busy: 'unavailable',
  too_many_operations: 'unavailable',
};

/** Any error as the problem that its caller gets. @param bodyBytesMax the largest body of the route */
export function toProblem(error: FastifyError | Error, bodyBytesMax: number): AdminProblem {
  if (error instanceof AdminProblem) return error;
  if (error instanceof AccountsError || error instanceof PeopleError || error instanceof ControlError)
    return new AdminProblem(mistakeCodes[error.code] ?? 'invalid_request', error.message, { cause: error });
  if (isTransientFailure(error))
    return unavailable('The database does not answer at the moment; whether a change was made is unknown.', error);
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return unavailable('The answer took too long; whether a change was made is unknown.', error);
  if (isVersionMismatch(error)) return versionMismatch(undefined);
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return new AdminProblem('body_too_large', `The body must not be larger than ${bodyBytesMax} bytes.`);
  if (status === 415) return new AdminProblem('unsupported_type', 'Content-Type must be application/json.');
  if (status !== undefined && status >= 400 && status < 500)
    return new AdminProblem('malformed_request', 'The request is malformed.', { cause: error });
  return new AdminProblem('internal_error', 'The server failed; its log has the reason under this request_id.', { cause: error });
}

/** Fastify's handler for paths that its router cannot read. */
export function refuseBadUrl(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const problem = new AdminProblem('malformed_request', 'The path is malformed.');
  void reply
    .code(400)
    .type(problemType)
    .send(JSON.stringify(encodeProblem(problem, request.id)));
}

/** Node's handler for bytes that are not an HTTP request, or not complete in time. Fastify does not receive them. */
export function refuseMalformed(error: ConnectionError, socket: Socket): void {
  if (closeIfSilent(error, socket)) return;
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = malformedCode(error.code);
  const body = JSON.stringify(encodeProblem(new AdminProblem(code, problemCodes[code].title), ''));
  const { status } = problemCodes[code];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function malformedCode(code: string): ProblemCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request';
}
