import type { ApiKey } from '../../../accounts/api-key.ts';
import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { type CallCredit, takeCredit } from '../../admission/credits/call-credit.ts';
import { enter } from '../../admission/enter.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { readRequest } from '../../admission/read-request.ts';
import { withMetadataTags } from '../../admission/request-tags.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import { boundAtAnyTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import type { AttemptPlan, CallJob } from '../../attempts/call-job.ts';
import { rankSuitable, seeTargets, type TargetRequirements } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AttemptServices, GatewaySettings } from '../../attempts/services.ts';
import { createByteSink } from '../../replies/connection-sink.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { AttemptReport, CallLabel, CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from './endpoint.ts';

/** The services of calls that are not chats. */
export type PlainServices = AdmissionServices & AttemptServices;

/** An admitted call that is not a chat: of a client, or of the gateway itself. */
export type AdmittedCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly settings: GatewaySettings;
  /** Headers of the client. They pass if the upstream accepts them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  /** Receives the reply. */
  readonly response: ClientReply;
  /** What happens when its client disconnects. */
  readonly disconnect: DisconnectPolicy | undefined;
  readonly admission: AttemptedCall['admission'];
  readonly report: AttemptReport;
  /** Set if it is a part of another call: its id is then that of its row. */
  readonly parentCallId?: string;
};

/** A call whose request is JSON. */
export type PlainCall = AdmittedCall & { readonly body: JsonObject };

/** The parts of a call that differ between endpoints. */
type PlainTask<Plan extends AttemptPlan> = TargetRequirements & {
  readonly label: CallLabel;
  readonly voice: ErrorVoice;
  readonly facts: CallFacts;
  /** The framing of the requested stream. Absent: server-sent events if the facts ask for a stream. */
  readonly framing?: StreamFraming | undefined;
  /** Bounds the usage at each target. Called only if the caller has a limit. */
  readonly bound: () => (target: Target) => UsageBounds;
  /** @param purchase has the prices of the hold */
  readonly createJob: (purchase: Purchase) => CallJob<Plan>;
};

/**
 * Admits a request. Undefined: it has its answer already.
 * @param voice words the refusal of a busy process
 * @throws GatewayError before anything was spent
 */
export async function admitCall(
  gateway: PlainServices,
  http: EndpointRequest,
  voice: ErrorVoice,
  report: CallReport,
): Promise<(AdmittedCall & { readonly admission: Admission }) | undefined> {
  const { request, response, callId } = http;
  const { clock } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const admitted = await enter(gateway, http, voice, report);
  if (admitted === undefined) return undefined;
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const disconnect = admitted.caller.disconnectPolicy ?? settings.disconnect;
  return { callId, ...admitted, settings, headers, acceptedAtMs, startedMs, response, disconnect, report };
}

/** The same for a request in JSON. Also reads its body. */
export async function receivePlainCall(
  gateway: PlainServices,
  http: EndpointRequest,
  voice: ErrorVoice,
  report: CallReport,
): Promise<PlainCall | undefined> {
  const call = await admitCall(gateway, http, voice, report);
  if (call === undefined) return undefined;
  const { admission, settings } = call;
  const { bytes, body } = await readRequest(http.request, settings.limits, (held) => admission.holdBytes(held), http.target.model);
  admission.holdBytes(bytes.length);
  report.recorder?.request(bytes);
  const caller = withMetadataTags(call.caller, settings.metadataTags, body['metadata']);
  report.caller = caller;
  return { ...call, caller, body };
}

/**
 * Makes a call: routes it by model, applies limits and holds credit. Returns when its first attempt runs. The attempts
 * continue by themselves, write the reply and settle the call.
 * @throws GatewayError before anything was spent
 */
export async function startPlainCall<Plan extends AttemptPlan>(
  gateway: PlainServices,
  call: AdmittedCall,
  task: PlainTask<Plan>,
): Promise<void> {
  const { caller, settings, acceptedAtMs } = call;
  const { label, voice, facts, bound, createJob } = task;
  const { requestedModel } = facts;
  call.report.facts = facts;
  const targets = rankSuitable({ ...seeTargets(gateway, settings), facts, caller, headers: call.headers }, task);
  const { limiter, clock } = gateway;
  const { perKey, routing } = settings;
  const reserved = await reserveCall({ limiter, clock, voice, caller, perKey, facts, model: targets[0]?.model });
  let credit: CallCredit | undefined;
  try {
    const payer = { userName: caller.userName, keyId: caller.id };
    const purchase = { priceBook: routing.priceBook, requestedModel, acceptedAtMs, ...payer };
    credit = await takeCredit(gateway, caller, acceptedAtMs, () => boundAtAnyTarget(purchase, targets, bound()));
    const framing = task.framing ?? (facts.stream ? 'sse' : undefined);
    const attempted = { ...call, label, facts, framing, targets, taken: reserved, credit };
    const sink = createByteSink({ ...call, voice, framing });
    await new CallAttempts(gateway, attempted, createJob(purchase), sink).start();
  } catch (error) {
    reserved?.reservation.release();
    credit?.end();
    throw error;
  }
}
