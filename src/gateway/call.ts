import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../accounts/api-key.ts';
import type { ChatDialect, Operation } from '../dialects/chat-dialect.ts';
import type { CallFacts } from '../inference/call-facts.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { WorkTurns } from '../platform/turn-queue.ts';
import { authenticate } from './authenticate.ts';
import { readBackground } from './background/background-request.ts';
import { startBackground } from './background/start-background.ts';
import { requestIdHeader } from './exchange/reply-headers.ts';
import { tokenCountHeader } from './exchange/translate/count-relay.ts';
import type { Gateway, GatewaySettings } from './gateway.ts';
import { checkCaller, mayCall } from './limits/check-caller.ts';
import { enterGate } from './overload/enter-gate.ts';
import { reserveCall, type TakenLimits } from './limits/reserve-call.ts';
import { largeBodyBytes, readRequest } from './read-request.ts';
import { CallAttempts } from './retry/call-attempts.ts';
import { alwaysHealthy } from './routing/always-healthy.ts';
import { rankTargets, unknownModel } from './routing/rank-targets.ts';
import type { Target } from './routing/routing-table.ts';
import type { CallReport } from './telemetry/call-report.ts';
import { toWireRequest } from './to-wire-request.ts';
import { writeReply } from './write-reply.ts';
import type { ClientReply } from './exchange/client-reply.ts';

/** A request that a chat route has recognised. */
export type IncomingCall = {
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly dialect: ChatDialect;
  readonly operation: Operation;
  readonly queryKeys: readonly string[];
  readonly pathModel?: string | undefined;
  readonly pathFraming?: StreamFraming | undefined;
};

/**
 * The road of one call, from its head to the moment its exchange runs; the exchange goes on by itself and settles the call. Every refusal on the
 * way is thrown as a GatewayError before anything was spent.
 */
export async function runCall(gateway: Gateway, call: IncomingCall, report: CallReport): Promise<void> {
  const acceptedAtMs = gateway.clock.nowMs();
  const startedMs = gateway.clock.monotonicMs();
  const { dialect } = call;
  const settings = gateway.settings();

  const found = authenticate(call.request, call.queryKeys, gateway.callers);
  const caller = found instanceof Promise ? await found : found;
  report.caller = caller;
  checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
  const entered = enterGate(gateway.gatekeeper, call, report, caller.userId);
  const admission = entered instanceof Promise ? await entered : entered;
  if (entered instanceof Promise) report.queueMs = Math.round(gateway.clock.monotonicMs() - startedMs);
  if (admission === undefined) return;
  const asked = await readRequest(call.request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(asked.bytes.length);
  dialect.validateRequest(toWireRequest(call, asked.body), settings.validation);
  const background = readBackground(call, asked);
  const { bytes, body } = background ?? asked;
  const request = toWireRequest(call, body);
  // What checks a large body and what writes it on take their time each; others have a turn between.
  if (bytes.length > largeBodyBytes) await new WorkTurns().giveWay();
  const facts = dialect.readFacts(request);
  report.facts = facts;
  const keptAt = facts.continues === undefined ? undefined : await gateway.replyOwners.check(facts.continues, caller.userName);
  if (!mayCall(caller, facts.requestedModel)) throw unknownModel(facts.requestedModel);
  const { clock, random } = gateway;
  const health = settings.retries.avoidFailing ? gateway.health : alwaysHealthy;
  const nowMs = clock.monotonicMs();
  const targets = rankTargets({ table: settings.routing, dialect, facts, request, caller, keptAt, health, nowMs, random });
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const taking = takeLimits(gateway, call, { settings, caller, facts, target: targets[0] });
  const taken = taking instanceof Promise ? await taking : taking;
  const known = { settings, caller, facts, framing, targets, taken, admission, acceptedAtMs, startedMs, report };
  const generate = async (going: IncomingCall): Promise<void> => {
    const estimate = await new CallAttempts(gateway, { ...known, call: going }, bytes).start(request, bytes);
    if (estimate !== undefined) answerCount(going, estimate.inputTokens);
  };
  // What was taken for a call that is not made is given back; after its exchange has ended there is nothing left to give.
  const onRefused = (): void => taken?.reservation.release();
  try {
    if (background === undefined) await generate(call);
    else await startBackground(gateway, { call, report, caller, body: asked.body, onRefused }, generate);
  } catch (error) {
    onRefused();
    throw error;
  }
}

/** Takes what the call needs of the limits that concern it; counting tokens is not limited. @throws GatewayError `rate_limited` */
function takeLimits(
  { limiter, clock }: Gateway,
  { operation, dialect }: IncomingCall,
  known: { readonly settings: GatewaySettings; readonly caller: ApiKey; readonly facts: CallFacts; readonly target: Target | undefined },
): TakenLimits | Promise<TakenLimits> | undefined {
  if (operation === 'count-tokens') return undefined;
  const { settings, caller, facts, target } = known;
  return reserveCall({ limiter, clock, dialect, caller, perKey: settings.perKey, facts, target });
}

/** Answers a token count that no upstream can make. */
function answerCount({ dialect, response, callId }: IncomingCall, inputTokens: number): void {
  const body = dialect.codec.encodeCount?.(inputTokens);
  if (body === undefined) throw new Error(`${dialect.id} has a counter and no words for its answer`);
  const headers = { 'content-type': 'application/json; charset=utf-8', [requestIdHeader]: callId, [tokenCountHeader]: 'estimate' };
  writeReply(response, 200, headers, Buffer.from(JSON.stringify(body)));
}
