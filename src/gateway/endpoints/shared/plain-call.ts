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
import type { AdmissionServices } from '../../admission/services.ts';
import { boundDearest, type Purchase } from '../../attempts/books/bound-call.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import type { AttemptPlan, CallJob } from '../../attempts/call-job.ts';
import { rankSuitable, seeTargets, type Wanted } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AttemptServices, GatewaySettings } from '../../attempts/services.ts';
import { createByteSink } from '../../replies/connection-sink.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { AttemptReport, CallLabel, CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from './endpoint.ts';

/** What calls work with that are no chats. */
export type PlainServices = AdmissionServices & AttemptServices;

/** A call that is no chat and was let in: of a client, or of the gateway's own. */
export type EnteredCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly settings: GatewaySettings;
  /** Headers of the client, which pass where the upstream takes them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  /** Where the reply is written. */
  readonly response: ClientReply;
  /** What is done when its client leaves. */
  readonly disconnect: DisconnectPolicy | undefined;
  readonly admission: AttemptedCall['admission'];
  readonly report: AttemptReport;
  /** Set where it is a part of another call: its id is that of its row then. */
  readonly parentCallId?: string;
};

/** A call whose request is JSON. */
export type PlainCall = EnteredCall & { readonly body: JsonObject };

/** What a call is about. */
type PlainTask<Plan extends AttemptPlan> = Wanted & {
  readonly label: CallLabel;
  readonly voice: ErrorVoice;
  readonly facts: CallFacts;
  /** Of the stream that its client asked for. Absent: server-sent events where the facts say that it is one. */
  readonly framing?: StreamFraming | undefined;
  /** Finds what it may use at each target: asked only where something limits what its caller spends. */
  readonly bound: () => (target: Target) => UsageBounds;
  /** @param purchase its prices are those that the call is held by */
  readonly createJob: (purchase: Purchase) => CallJob<Plan>;
};

/**
 * Lets a request in. Undefined where nothing is left to do.
 * @param voice words the refusal of a busy process
 * @throws GatewayError before anything was spent
 */
export async function enterCall(
  gateway: PlainServices,
  http: EndpointRequest,
  voice: ErrorVoice,
  report: CallReport,
): Promise<(EnteredCall & { readonly admission: Admission }) | undefined> {
  const { request, response, callId } = http;
  const { clock } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const entered = await enter(gateway, http, voice, report);
  if (entered === undefined) return undefined;
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const disconnect = entered.caller.disconnectPolicy ?? settings.disconnect;
  return { callId, ...entered, settings, headers, acceptedAtMs, startedMs, response, disconnect, report };
}

/** The same for a request in JSON, which is read. */
export async function receivePlainCall(
  gateway: PlainServices,
  http: EndpointRequest,
  voice: ErrorVoice,
  report: CallReport,
): Promise<PlainCall | undefined> {
  const call = await enterCall(gateway, http, voice, report);
  if (call === undefined) return undefined;
  const { admission, settings } = call;
  const { bytes, body } = await readRequest(http.request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(bytes.length);
  return { ...call, body };
}

/**
 * Makes a call: routed by model, limited, and held for. Returns when its first attempt runs; the attempts go on by themselves, write the reply and settle the call.
 * @throws GatewayError before anything was spent
 */
export async function startPlainCall<Plan extends AttemptPlan>(
  gateway: PlainServices,
  call: EnteredCall,
  task: PlainTask<Plan>,
): Promise<void> {
  const { caller, settings, acceptedAtMs } = call;
  const { label, voice, facts, bound, createJob } = task;
  const { requestedModel } = facts;
  call.report.facts = facts;
  const targets = rankSuitable({ ...seeTargets(gateway, settings), facts, caller, headers: call.headers }, task);
  const { limiter, clock } = gateway;
  const { perKey, routing } = settings;
  const taken = await reserveCall({ limiter, clock, voice, caller, perKey, facts, model: targets[0]?.model });
  let credit: CallCredit | undefined;
  try {
    const payer = { userName: caller.userName, keyId: caller.id };
    const purchase = { priceBook: routing.priceBook, requestedModel, acceptedAtMs, ...payer };
    credit = await takeCredit(gateway, caller, acceptedAtMs, () => boundDearest(purchase, targets, bound()));
    const framing = task.framing ?? (facts.stream ? 'sse' : undefined);
    const known = { ...call, label, facts, framing, targets, taken, credit };
    const sink = createByteSink({ ...call, voice, framing });
    await new CallAttempts(gateway, known, createJob(purchase), sink).start();
  } catch (error) {
    taken?.reservation.release();
    credit?.end();
    throw error;
  }
}
