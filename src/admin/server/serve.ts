import type { FastifyReply, FastifyRequest } from 'fastify';

import type { AdminLimits, AdminOptions } from '../admin-options.ts';
import { type AdminContext, type Answer, isStream, type Operation, type RawInput, type StreamAnswer } from '../operation.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { AdminProblem } from '../problem.ts';
import { runOperation } from '../run-operation.ts';
import { encodeAnswer, type EncodedAnswer, sendEncoded, sendStream } from './answer.ts';
import type { Callers } from './callers.ts';
import { readExpectedVersion } from './if-match.ts';
import { passOn } from './pass-on.ts';
import { createPresentState } from './present-state.ts';
import { JsonBody } from './json-body.ts';
import { receiveUpload, type ReceivedForm } from './receive-upload.ts';
import { repeatOnce } from './repeat-once.ts';
import { writeSessionCookie } from './session-cookie.ts';

/** The handler of one operation: everything after its caller is known and its body has arrived. */
export function createServe<Services>(
  operation: Operation<Services>,
  options: AdminOptions<Services>,
  limits: AdminLimits,
  callers: Callers,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const { services, idempotency, clock } = options;
  const showPresent = createPresentState(operation, options, limits.bodyBytesMax);

  async function serveOne(request: FastifyRequest, reply: FastifyReply, form: ReceivedForm | undefined): Promise<FastifyReply> {
    const { principal, origin } = callers.of(request);
    const left = leaving(reply);
    const body = request.body instanceof JsonBody ? request.body : undefined;
    const query = operation.passes === undefined ? readQuery(request) : {};
    const input: RawInput = { params: readParams(request), query, body: form?.fields ?? body?.value };
    const expected = await readExpectedVersion(operation, request, input, principal, options);
    const { range, 'if-range': ifRange } = request.headers;
    const lastEventId = request.headers['last-event-id'];
    const context: AdminContext<Services> = {
      principal,
      services,
      signal: left,
      nowMs: clock.nowMs,
      expected,
      ...(form !== undefined && { upload: form.upload }),
      ...(operation.passes !== undefined && { passed: passOn(operation.path, operation.passes, request, reply, limits) }),
      ...(typeof lastEventId === 'string' && { lastEventId }),
      ...(range !== undefined && { range: { field: range, ...(typeof ifRange === 'string' && { ifRange }) } }),
      change: () => ({
        ...principal.author,
        atMs: clock.nowMs(),
        ...(operation.subject !== undefined && expected !== undefined && { expectedVersion: expected }),
      }),
    };
    const run = async (): Promise<Answer<unknown> | StreamAnswer> => {
      const answer = await waitFor(runOperation(operation, input, context), operation.passes?.waitMsMax ?? limits.operationMsMax, left);
      if (!isStream(answer) && answer.session !== undefined) writeSessionCookie(reply, origin, answer.session);
      return answer;
    };
    const key = request.headers['idempotency-key'];
    if (operation.method !== 'POST' || operation.access === 'anybody' || operation.streams !== undefined) {
      const answer = await run();
      return isStream(answer) ? sendStream(reply, answer) : sendEncoded(reply, encodeAnswer(operation, answer));
    }
    if (typeof key !== 'string') {
      if (operation.keyRequired === true)
        throw new AdminProblem('idempotency_key_required', 'Money moves: send an Idempotency-Key, so that a repetition moves it once.');
      return sendEncoded(reply, encodeWhole(operation, await run()));
    }
    const sent = form === undefined ? (body?.bytes ?? '') : JSON.stringify([form.fields, form.upload.sha256]);
    const identity = [request.method, request.url, sent];
    const repeatable = { actor: principal.author.actor, key, identity, requestId: request.id, signal: left };
    return sendEncoded(reply, await repeatOnce(idempotency, repeatable, async () => encodeWhole(operation, await run())));
  }

  return async (request, reply) => {
    const form = operation.passes === undefined ? await readForm(operation, request, callers, options) : undefined;
    try {
      return await serveOne(request, reply, form);
    } catch (error) {
      throw await showPresent(error, { params: readParams(request), principal: callers.of(request).principal, signal: leaving(reply) });
    } finally {
      await form?.discard();
    }
  };
}

/**
 * The form of an operation that takes a file.
 * @throws AdminProblem `unsupported_type` if the request has another type than the operation takes
 */
async function readForm<Services>(
  { takesFile }: Operation<Services>,
  request: FastifyRequest,
  callers: Callers,
  { uploads }: AdminOptions<Services>,
): Promise<ReceivedForm | undefined> {
  const isForm = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
  if (takesFile !== true) {
    if (isForm) throw new AdminProblem('unsupported_type', 'Content-Type must be application/json.');
    return undefined;
  }
  if (!isForm || uploads === undefined)
    throw new AdminProblem('unsupported_type', 'Content-Type must be multipart/form-data, with the file in the field file.');
  // A page of another site can send forms, but no header of its own (requirement S3).
  if (callers.of(request).principal.sessionId !== undefined && request.headers['x-weir-console'] !== '1')
    throw new AdminProblem('cross_origin', 'A form with a session cookie needs the header x-weir-console: 1.');
  return await receiveUpload(request.raw, uploads);
}

function encodeWhole(operation: Operation<never>, answer: Answer<unknown> | StreamAnswer): EncodedAnswer {
  if (isStream(answer)) throw new Error(`The operation ${operation.id} streams an answer but does not declare it.`);
  return encodeAnswer(operation, answer);
}

/** Aborts when the client has left before its answer was sent. */
function leaving(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.on('close', () => controller.abort(new Error('the client has left')));
  return controller.signal;
}

function readParams(request: FastifyRequest): Readonly<Record<string, string>> {
  const params = Object.entries(request.params as Record<string, unknown>);
  return Object.fromEntries(params.map(([name, value]) => [name === '*' ? 'path' : name, String(value)]));
}

/** Query parameters by name, each as the list of its values. */
function readQuery(request: FastifyRequest): RawInput['query'] {
  const at = request.url.indexOf('?');
  const parsed = new URLSearchParams(at === -1 ? '' : request.url.slice(at + 1));
  return Object.fromEntries([...new Set(parsed.keys())].map((name) => [name, parsed.getAll(name)]));
}
