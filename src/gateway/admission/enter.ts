import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../accounts/api-key.ts';
import type { ErrorVoice } from '../../dialects/error-voice.ts';
import type { ClientReply } from '../replies/client-reply.ts';
import type { CallSettings } from '../settings/call-settings.ts';
import type { CallReport } from '../telemetry/call-report.ts';
import { authenticate, checkCaller } from './authenticate.ts';
import { enterGate } from './overload/enter-gate.ts';
import type { Admission } from './overload/fair-gate.ts';
import type { RequestTarget } from './read-request.ts';
import { withHeaderTags } from './request-tags.ts';
import type { AdmissionServices } from './services.ts';

type Arriving = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly target: Pick<RequestTarget, 'queryKeys'>;
};

type CallerServices = Pick<AdmissionServices, 'callers' | 'clock'> & { readonly settings: () => Pick<CallSettings, 'isProxy'> };

/** The caller, and its place in the process until the reply is over. */
type Entered = { readonly caller: ApiKey; readonly admission: Admission };

/**
 * Finds the key of a request and checks that it is valid now and for the request's address.
 * @throws GatewayError as `authenticate` and `checkCaller` do
 */
export async function findCaller(
  { callers, clock, settings }: CallerServices,
  request: IncomingMessage,
  queryKeys: readonly string[],
): Promise<ApiKey> {
  const caller = await authenticate(request, queryKeys, callers);
  checkCaller(caller, request, clock.nowMs(), settings().isProxy);
  callers.noteUse?.(caller.id);
  return caller;
}

/**
 * Lets a request in: finds its caller, and waits for a place if the process is busy. Undefined if the request was
 * refused and answered, or its client has disconnected; then nothing is left to do.
 * @param voice words the refusal
 * @param report the report of a call; undefined for a request that is not a call
 * @throws GatewayError for a caller that is unknown, or may not call
 */
export async function enter(
  services: CallerServices & Pick<AdmissionServices, 'gatekeeper' | 'recording'>,
  { callId, request, response, target }: Arriving,
  voice: Pick<ErrorVoice, 'encodeError'>,
  report?: CallReport,
): Promise<Entered | undefined> {
  const { callers, clock, settings, gatekeeper } = services;
  const found = await authenticate(request, target.queryKeys, callers);
  const caller = report === undefined ? found : enterReport(services, found, request, report);
  checkCaller(caller, request, clock.nowMs(), settings().isProxy);
  callers.noteUse?.(caller.id);
  const admission = await enterGate(gatekeeper, { callId, request, response, voice }, report, caller.userId);
  return admission === undefined ? undefined : { caller, admission };
}

/** The caller with the tags of the request. The report knows the caller also if the tags are refused. */
function enterReport(
  { recording }: Pick<AdmissionServices, 'recording'>,
  found: ApiKey,
  request: IncomingMessage,
  report: CallReport,
): ApiKey {
  report.caller = found;
  recording?.begin(found, report, request);
  const caller = withHeaderTags(found, request.headers);
  report.caller = caller;
  return caller;
}
