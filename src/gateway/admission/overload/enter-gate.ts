import type { IncomingMessage } from 'node:http';

import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { expectedBytes } from './expected-bytes.ts';
import type { Admission, AdmitResult } from './fair-gate.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { shedCall } from './shed-call.ts';
import type { ClientReply } from '../../replies/client-reply.ts';

/** What the gate has to know of a call whose caller is known and whose body has not been read. */
type ArrivingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly voice: Pick<ErrorVoice, 'encodeError'>;
};

type GateReport = Pick<CallReport, 'refused' | 'whenClosed'>;

/**
 * Lets a call in, until its reply is over. Undefined: it was refused and has its answer, or its client has left; nothing more is to be done.
 * @param report undefined for what is no call: nothing is told of it
 * @param tenantId whose share of the process it uses
 */
export function enterGate(gatekeeper: Gatekeeper, call: ArrivingCall, report: GateReport | undefined, tenantId: string): AdmitResult {
  const { request, response } = call;
  if (gatekeeper.closesConnections()) response.shouldKeepAlive = false;
  const bytes = expectedBytes(request);
  const admitted = gatekeeper.admit(tenantId, bytes, () => response.destroyed);
  return admitted instanceof Promise
    ? admitted.then((late) => settle(gatekeeper, call, report, { bytes, admission: late }))
    : settle(gatekeeper, call, report, { bytes, admission: admitted });
}

function settle(
  gatekeeper: Gatekeeper,
  { request, response, voice, callId }: ArrivingCall,
  report: GateReport | undefined,
  { bytes, admission }: { readonly bytes: number; readonly admission: Admission | undefined },
): Admission | undefined {
  if (admission === undefined) {
    gatekeeper.wasRefused(request, bytes);
    const refusal = shedCall(response, voice, callId, gatekeeper.retryAfterSeconds());
    report?.refused(refusal);
    return undefined;
  }
  // A client that left before somebody listened for it: nothing will tell again.
  if (response.destroyed) {
    admission.release();
    return undefined;
  }
  const leave = (): void => admission.release();
  if (report === undefined) response.once('close', leave);
  else report.whenClosed(leave);
  return admission;
}
