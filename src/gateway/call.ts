import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../accounts/api-key.ts';
import type { ChatDialect, Operation, WireRequest } from '../dialects/chat-dialect.ts';
import type { CallFacts } from '../inference/call-facts.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { WorkTurns } from '../platform/turn-queue.ts';
import { authenticate } from './authenticate.ts';
import { requestIdHeader } from './exchange/reply-headers.ts';
import { tokenCountHeader } from './exchange/translate/count-relay.ts';
import type { Gateway, GatewaySettings } from './gateway.ts';
import { checkCaller, mayCall } from './limits/check-caller.ts';
import { enterGate } from './overload/enter-gate.ts';
import { reserveCall, type TakenLimits } from './limits/reserve-call.ts';
import { largeBodyBytes, readRequest } from './read-request.ts';
import { CallAttempts } from './retry/call-attempts.ts';
import { alwaysHealthy } from './routing/always-healthy.ts';
import { rankKeeperFirst } from './routing/rank-keeper-first.ts';
import { rankTargets, unknownModel } from './routing/rank-targets.ts';
import type { Target } from './routing/routing-table.ts';
import { openTurn } from './stored-responses/open-turn.ts';
import type { ResponseTurn } from './stored-responses/response-turn.ts';
import type { CallReport } from './telemetry/call-report.ts';
import { needsToolLoop, runToolLoop } from './tool-loop/run-tool-loop.ts';
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

  const known = authenticate(call.request, call.queryKeys, gateway.callers);
  const caller = known instanceof Promise ? await known : known;
  report.caller = caller;
  checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
  const entered = enterGate(gateway.gatekeeper, call, report, caller.userId);
  const admission = entered instanceof Promise ? await entered : entered;
  if (entered instanceof Promise) report.queueMs = Math.round(gateway.clock.monotonicMs() - startedMs);
  if (admission === undefined) return;
  const { bytes, body } = await readRequest(call.request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(bytes.length);
  const request = toWireRequest(call, body);
  dialect.validateRequest(request, settings.validation);
  // What checks a large body and what writes it on take their time each; others have a turn between.
  if (bytes.length > largeBodyBytes) await new WorkTurns().giveWay();
  const asked = dialect.readFacts(request);
  report.facts = asked;
  if (!mayCall(caller, asked.requestedModel)) throw unknownModel(asked.requestedModel);
  const route = settings.routing.routeOf(asked.requestedModel);
  const state = route?.responseState ?? 'auto';
  const opening = openTurn({ gateway, call, settings, caller, request, bytes, facts: asked, state, targets: route?.targets ?? [] });
  const turn = opening === undefined ? undefined : await opening;
  if (turn !== undefined) call.response.on('close', turn.close);
  const facts = turn?.facts ?? asked;
  const choosing = chooseTargets(gateway, { settings, dialect, caller, facts, request: turn?.request ?? request, turn });
  const targets = choosing instanceof Promise ? await choosing : choosing;
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const taking = takeLimits(gateway, call, { settings, caller, facts, target: targets[0] });
  const taken = taking instanceof Promise ? await taking : taking;
  try {
    const knownCall = { call, settings, caller, facts, framing, targets, taken, turn, admission, acceptedAtMs, startedMs, report };
    if (call.operation === 'generate' && needsToolLoop(gateway, { dialect, facts, settings, targets })) {
      return await runToolLoop(gateway, knownCall, { request: turn === undefined ? request : await turn.whole(), asked: request });
    }
    const attempts = new CallAttempts(gateway, knownCall, bytes);
    const estimate = await attempts.start(request, bytes);
    if (estimate !== undefined) answerCount(call, estimate.inputTokens);
  } catch (error) {
    // What was taken for a call that is not made is given back; after its exchange has ended there is nothing left to give.
    taken?.reservation.release();
    throw error;
  }
}

type Routed = {
  readonly settings: GatewaySettings;
  readonly dialect: ChatDialect;
  readonly caller: ApiKey;
  readonly facts: CallFacts;
  readonly request: WireRequest;
  readonly turn: ResponseTurn | undefined;
};

/** The targets of a call, best first: before all others the one that keeps what it goes on from, where one does. */
function chooseTargets(
  gateway: Gateway,
  { settings, dialect, caller, facts, request, turn }: Routed,
): readonly Target[] | Promise<readonly Target[]> {
  const { clock, random, replyOwners } = gateway;
  const health = settings.retries.avoidFailing ? gateway.health : alwaysHealthy;
  const call = { table: settings.routing, dialect, request, caller, health, nowMs: clock.monotonicMs(), random };
  if (turn?.keeper !== undefined) return rankKeeperFirst(call, facts, turn.keeper);
  if (facts.continues === undefined) return rankTargets({ ...call, facts });
  return replyOwners.check(facts.continues, caller.userName).then((keptAt) => rankTargets({ ...call, facts, keptAt }));
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
