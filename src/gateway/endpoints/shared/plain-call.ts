import type { ApiKey } from '../../../accounts/api-key.ts';
import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { mayCall } from '../../admission/check-caller.ts';
import { type CallCredit, takeCredit } from '../../admission/credits/call-credit.ts';
import { enter } from '../../admission/enter.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import { readRequest } from '../../admission/read-request.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import { boundDearest, type Purchase } from '../../attempts/books/bound-call.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import type { CallJob } from '../../attempts/call-job.ts';
import { alwaysHealthy } from '../../attempts/routing/always-healthy.ts';
import type { ServedKind } from '../../attempts/routing/model-kind.ts';
import { notAChat } from '../../attempts/routing/not-a-chat.ts';
import { rankTargets, unknownModel } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AttemptServices, GatewaySettings } from '../../attempts/services.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { AttemptReport, CallLabel, CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from './endpoint.ts';

/** What calls work with that are one request in JSON and one whole reply. */
export type PlainServices = AdmissionServices & AttemptServices;

/** A request in JSON that is answered whole: of a client, or of the gateway's own. */
export type PlainCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly settings: GatewaySettings;
  readonly body: JsonObject;
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
};

/** Which targets can answer a call. */
type Wanted = {
  readonly kind: ServedKind;
  readonly isSuitable: (target: Target) => boolean;
  /** What such a target does, in words. */
  readonly does: string;
};

/** What a call is about. */
type PlainTask = Wanted & {
  readonly label: CallLabel;
  readonly voice: ErrorVoice;
  readonly facts: CallFacts;
  /** Finds what it may use at each target: asked only where something limits what its caller spends. */
  readonly bound: () => (target: Target) => UsageBounds;
  /** @param purchase its prices are those that the call is held by */
  readonly createJob: (purchase: Purchase) => CallJob;
};

/**
 * Lets a request in and reads it. Undefined where nothing is left to do.
 * @param voice words the refusal of a busy process
 * @throws GatewayError before anything was spent
 */
export async function receivePlainCall(
  gateway: PlainServices,
  http: EndpointRequest,
  voice: ErrorVoice,
  report: CallReport,
): Promise<PlainCall | undefined> {
  const { request, response, callId } = http;
  const { clock } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const entered = await enter(gateway, http, voice, report);
  if (entered === undefined) return undefined;
  const { caller, admission } = entered;
  const { bytes, body } = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(bytes.length);
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const disconnect = caller.disconnectPolicy ?? settings.disconnect;
  return { callId, caller, settings, body, headers, acceptedAtMs, startedMs, response, disconnect, admission, report };
}

/**
 * Makes a call: routed by model, limited, and held for. Returns when its first attempt runs; the attempts go on by themselves, write the reply and settle the call.
 * @throws GatewayError before anything was spent
 */
export async function startPlainCall(gateway: PlainServices, call: PlainCall, task: PlainTask): Promise<void> {
  const { caller, settings, acceptedAtMs } = call;
  const { label, voice, facts, bound, createJob } = task;
  const { requestedModel } = facts;
  call.report.facts = facts;
  const targets = findTargets(gateway, call, facts, task);
  const { limiter, clock } = gateway;
  const { perKey, routing } = settings;
  const taken = await reserveCall({ limiter, clock, voice, caller, perKey, facts, model: targets[0]?.model });
  let credit: CallCredit | undefined;
  try {
    const payer = { userName: caller.userName, keyId: caller.id };
    const purchase = { priceBook: routing.priceBook, requestedModel, acceptedAtMs, ...payer };
    credit = await takeCredit(gateway, caller, acceptedAtMs, () => boundDearest(purchase, targets, bound()));
    const known = { ...call, label, voice, facts, framing: undefined, targets, taken, credit };
    await new CallAttempts(gateway, known, createJob(purchase)).start();
  } catch (error) {
    taken?.reservation.release();
    credit?.end();
    throw error;
  }
}

/** The targets that can answer, best first. @throws GatewayError where there is none */
function findTargets(
  gateway: PlainServices,
  { caller, settings, body, headers }: PlainCall,
  facts: CallFacts,
  { kind, isSuitable, does }: Wanted,
): readonly Target[] {
  const { requestedModel } = facts;
  const { routing, retries } = settings;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, routing, (model) => mayCall(caller, model));
  const ranked = rankTargets({
    table: routing,
    dialect: notAChat,
    facts,
    request: { operation: 'generate', body, headers },
    caller,
    kind,
    health: retries.avoidFailing ? gateway.health : alwaysHealthy,
    nowMs: gateway.clock.monotonicMs(),
    random: gateway.random,
  });
  const targets = ranked.filter(isSuitable);
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${does}`, { param: 'model' });
}
