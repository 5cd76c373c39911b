import type { IncomingMessage } from 'node:http';

import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { heldStepBytes } from '../../../platform/http/read-body.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import { requestIdHeader } from '../../replies/write-reply.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { Admission, AdmitResult } from './fair-gate.ts';
import type { Gatekeeper } from './gatekeeper.ts';

/**
 * The size of a body that counts before any of it has arrived: the declared size, up to one step. The rest counts as it
 * arrives, so that a client that declares much and sends nothing blocks nobody.
 */
export function expectedBytes({ headers }: IncomingMessage): number {
  const declared = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : heldStepBytes));
  return Math.min(declared, heldStepBytes);
}

/** A call whose caller is known and whose body has not been read. */
type ArrivingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly voice: Pick<ErrorVoice, 'encodeError'>;
};

type GateReport = Pick<CallReport, 'refused' | 'whenClosed'>;

/**
 * Lets a call in until its reply is over. Undefined if the call was refused and answered, or its client has
 * disconnected; then nothing is left to do.
 * @param report undefined for a request that is not a call
 * @param tenantId the tenant whose share of the process the call uses
 */
export function enterGate(gatekeeper: Gatekeeper, call: ArrivingCall, report: GateReport | undefined, tenantId: string): AdmitResult {
  const { request, response } = call;
  if (gatekeeper.closesConnections()) response.shouldKeepAlive = false;
  const admitted = gatekeeper.admit(tenantId, expectedBytes(request), () => response.destroyed);
  return admitted instanceof Promise
    ? admitted.then((late) => settle(gatekeeper, call, report, late))
    : settle(gatekeeper, call, report, admitted);
}

function settle(
  gatekeeper: Gatekeeper,
  { request, response, voice, callId }: ArrivingCall,
  report: GateReport | undefined,
  admission: Admission | undefined,
): Admission | undefined {
  if (admission === undefined) {
    gatekeeper.wasRefused(request, expectedBytes(request));
    const refusal = shedCall(response, voice, callId, gatekeeper.retryAfterSeconds());
    report?.refused(refusal);
    return undefined;
  }
  // The client disconnected before anything listened for it, and no further event follows.
  if (response.destroyed) {
    admission.release();
    return undefined;
  }
  const leave = (): void => admission.release();
  if (report === undefined) response.once('close', leave);
  else report.whenClosed(leave);
  return admission;
}

/** As long as a real id, and in none of our texts. */
const idMark = 'req_~~~~~~~~~~~~~~~~~~~~~~~~~~';

type PreparedAnswer = { readonly error: GatewayError; readonly status: number; readonly headers: readonly string[]; readonly text: string };

/** Prepared answers by voice and seconds: a few for each voice. */
const prepared = new Map<Pick<ErrorVoice, 'encodeError'>, Map<number, PreparedAnswer>>();

/**
 * Answers a refused call. Such answers are sent under overload, so their texts are prepared once, and only the id of
 * the call is inserted.
 * @returns the client's error
 */
function shedCall(response: ClientReply, voice: Pick<ErrorVoice, 'encodeError'>, callId: string, retryAfterSeconds: number): GatewayError {
  let answers = prepared.get(voice);
  if (answers === undefined) {
    answers = new Map();
    prepared.set(voice, answers);
  }
  let answer = answers.get(retryAfterSeconds);
  if (answer === undefined) {
    answer = prepare(voice, retryAfterSeconds);
    answers.set(retryAfterSeconds, answer);
  }
  if (response.headersSent || response.destroyed) return answer.error;
  const text = answer.text.replaceAll(idMark, callId);
  response.writeHead(answer.status, [
    ...answer.headers.map((value) => (value === idMark ? callId : value)),
    'content-length',
    String(text.length),
  ]);
  response.end(text, 'latin1');
  return answer.error;
}

function prepare(voice: Pick<ErrorVoice, 'encodeError'>, retryAfterSeconds: number): PreparedAnswer {
  const message = `The gateway is overloaded: it has more requests than it can serve at the moment. Please try again in ${retryAfterSeconds}s.`;
  const error = new GatewayError('overloaded', message, { retryAfterSeconds });
  const reply = voice.encodeError(error, idMark);
  const headers = { ...reply.headers, [requestIdHeader]: idMark };
  return { error, status: reply.status, headers: Object.entries(headers).flat(), text: reply.body.toString('latin1') };
}
