import type { KnownCall } from './known-call.ts';
import { identify, type IncomingCall } from './incoming-call.ts';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { WireRequest } from '../../../dialects/dialect-id.ts';
import { hasCompaction } from '../../../dialects/openai-responses/compaction.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { writeJson } from '../../../platform/json/write-json.ts';
import { largeBodyBytes, WorkTurns } from '../../../platform/turn-queue.ts';
import { authenticate } from '../../admission/authenticate.ts';
import { readBackground } from './background/background-request.ts';
import { startBackground } from './background/start-background.ts';
import { takeCallbackUrl } from './background/take-callback-url.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import { takeChatCredit } from './chat-credit.ts';
import { openSummaries } from './compaction/open-summaries.ts';
import { createInlineFiles, type InlineFiles, mayNameFiles } from './inline-files.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { ChatServices } from './chat-services.ts';
import { checkCaller, mayCall } from '../../admission/check-caller.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import { reserveCall, type TakenLimits } from '../../admission/limits/reserve-call.ts';
import { readRequest } from '../../admission/read-request.ts';
import { ChatJob } from './chat-job.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import { alwaysHealthy } from '../../attempts/routing/always-healthy.ts';
import { rankKeeperFirst } from './responses/rank-keeper-first.ts';
import { rankTargets, unknownModel } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { openTurn } from './responses/open-turn.ts';
import type { ResponseTurn } from './responses/response-turn.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { needsToolLoop, runToolLoop } from './tool-loop/run-tool-loop.ts';
import { toWireRequest } from './to-wire-request.ts';

/**
 * The road of one call, from its head to the moment its exchange runs; the exchange goes on by itself and settles the call. Every refusal on the
 * way is thrown as a GatewayError before anything was spent.
 */
export async function runCall(gateway: ChatServices, call: IncomingCall, report: CallReport): Promise<void> {
  const acceptedAtMs = gateway.clock.nowMs();
  const startedMs = gateway.clock.monotonicMs();
  const { callId, dialect } = call;
  const settings = gateway.settings();

  const found = authenticate(call.request, call.queryKeys, gateway.callers);
  const caller = found instanceof Promise ? await found : found;
  report.caller = caller;
  checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
  const entered = enterGate(
    gateway.gatekeeper,
    { callId, request: call.request, response: call.response, voice: dialect.voice },
    report,
    caller.userId,
  );
  const admission = entered instanceof Promise ? await entered : entered;
  if (entered instanceof Promise) report.queueMs = Math.round(gateway.clock.monotonicMs() - startedMs);
  if (admission === undefined) return;
  const received = await readRequest(call.request, settings.limits, (held) => admission.holdBytes(held));
  const { asked, callbackUrl } = takeCallbackUrl(gateway.callbacks, call, received);
  admission.holdBytes(asked.bytes.length);
  dialect.validateRequest(toWireRequest(call, asked.body), settings.validation);
  const background = readBackground(call, asked);
  const { bytes, body } = background ?? asked;
  const request = toWireRequest(call, body);
  // What checks a large body and what writes it on take their time each; others have a turn between.
  if (bytes.length > largeBodyBytes) await new WorkTurns().giveWay();
  const mayHold = (more: number): boolean => admission.holdBytes(asked.bytes.length + more);
  const routing = routeCall(gateway, { call, settings, caller, request, bytes, isBackground: background !== undefined, mayHold }, report);
  const { turn, facts, targets, sent } = routing instanceof Promise ? await routing : routing;
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const taking = takeLimits(gateway, call, { settings, caller, facts, target: targets[0] });
  const taken = taking instanceof Promise ? await taking : taking;
  let credit: CallCredit | undefined;
  // What was taken for a call that is not made is given back; after its exchange has ended there is nothing left to give.
  const onRefused = (): void => {
    taken?.reservation.release();
    credit?.end();
  };
  try {
    const holding = holdCredit(gateway, call, { settings, caller, facts, targets, framing, acceptedAtMs, request: sent.request, turn });
    credit = holding instanceof Promise ? await holding : holding;
    const disconnect = background === undefined ? (caller.disconnectPolicy ?? settings.disconnect) : undefined;
    const known = {
      settings,
      caller,
      facts,
      framing,
      targets,
      taken,
      credit,
      disconnect,
      turn,
      admission,
      acceptedAtMs,
      startedMs,
      report,
    };
    const generate = (going: IncomingCall): Promise<void> =>
      makeCall(gateway, { ...known, ...identify(going), call: going }, sent.request, sent.bytes);
    if (background === undefined) await generate(call);
    else await startBackground(gateway, { call, report, turn, body: asked.body, callbackUrl, onRefused }, generate);
  } catch (error) {
    onRefused();
    throw error;
  }
}

/** Makes the call: once, or as often as its built-in tools need. */
async function makeCall(gateway: ChatServices, known: KnownCall, request: WireRequest, bytes: Buffer): Promise<void> {
  const { call, facts, settings, targets, turn } = known;
  // It is translated next, which takes a large body its time once more.
  if (bytes.length > largeBodyBytes) await new WorkTurns().giveWay();
  if (call.operation === 'generate' && needsToolLoop(gateway, { dialect: call.dialect, facts, settings, targets })) {
    const whole = turn === undefined ? request : await turn.whole();
    if (await runToolLoop(gateway, known, { request: whole, asked: request })) return;
  }
  await new CallAttempts(gateway, known, new ChatJob(gateway, known, request, bytes)).start();
}

/** A call that is to be routed. */
type ReadCall = {
  readonly call: IncomingCall;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  readonly request: WireRequest;
  readonly bytes: Buffer;
  readonly isBackground: boolean;
  /** Whether the process has room for so much more than what came in. */
  readonly mayHold: (bytes: number) => boolean;
};

/** Where it goes, and what it goes on from. */
type ChosenTargets = { readonly turn: ResponseTurn | undefined; readonly facts: CallFacts; readonly targets: readonly Target[] };

/** The same with the request as it goes on: with files in place of their ids. */
type RoutedCall = ChosenTargets & { readonly sent: Pick<ReadCall, 'request' | 'bytes'> };

/** Finds out where a call goes. At once, unless files or stored responses have to be looked up first. */
function routeCall(gateway: ChatServices, read: ReadCall, report: CallReport): RoutedCall | Promise<RoutedCall> {
  const { call, settings, caller, request } = read;
  const facts = call.dialect.readFacts(request);
  report.facts = facts;
  if (!mayCall(caller, facts.requestedModel)) throw unknownModel(facts.requestedModel, settings.routing, (model) => mayCall(caller, model));
  const inlineFiles = createInlineFiles({
    files: gateway.files,
    clock: gateway.clock,
    userName: caller.userName,
    dialect: call.dialect.id,
    bytesMax: settings.limits.requestBytesMax,
    mayHold: read.mayHold,
  });
  // What stands for something kept elsewhere: files under their ids, and summaries of conversations that were sealed here.
  const fill: InlineFiles = async (body, param) =>
    openSummaries(await inlineFiles(body, param), { sealer: gateway.summaries, userName: caller.userName, param });
  const hasSummaries = call.dialect.id === 'openai-responses' && hasCompaction(request.body.input);
  const going = { ...read, facts, inlineFiles: fill };
  const route = (namesFiles: boolean): RoutedCall | Promise<RoutedCall> =>
    namesFiles || hasSummaries ? routeWithFiles(gateway, going, report) : routeFilled(gateway, going, read.request);
  const looking = mayNameFiles(read.bytes);
  return looking instanceof Promise ? looking.then(route) : route(looking);
}

/** A call whose files are in it, and what inlines those that its history names. */
type FilledCall = ReadCall & { readonly facts: CallFacts; readonly inlineFiles: InlineFiles };

async function routeWithFiles(gateway: ChatServices, read: FilledCall, report: CallReport): Promise<RoutedCall> {
  const turns = new WorkTurns();
  if (read.bytes.length > largeBodyBytes) await turns.giveWay();
  const body = await read.inlineFiles(read.request.body);
  if (body === read.request.body) return routeFilled(gateway, read, read.request);
  // It may have become a large one only now.
  await turns.giveWay();
  const request = { ...read.request, body };
  const facts = read.call.dialect.readFacts(request);
  report.facts = facts;
  const bytes = await writeJson(body);
  return routeFilled(gateway, { ...read, request, bytes, facts }, read.request);
}

/** @param asked the request as the client wrote it, which is what is kept */
function routeFilled(gateway: ChatServices, read: FilledCall, asked: WireRequest): RoutedCall | Promise<RoutedCall> {
  const { call, settings, request, bytes, facts } = read;
  const route = settings.routing.routeOf(facts.requestedModel);
  const chosen = ((): ChosenTargets | Promise<ChosenTargets> => {
    if (call.dialect.id !== 'openai-responses') return chooseTargets(gateway, read, { request, facts, turn: undefined });
    const opening = openTurn({ ...read, asked, gateway, state: route?.responseState ?? 'auto', targets: route?.targets ?? [] });
    if (opening !== undefined) return routeTurn(gateway, read, opening);
    if (read.isBackground) throw neverStored();
    return chooseTargets(gateway, read, { request, facts, turn: undefined });
  })();
  const sent = { request, bytes };
  return chosen instanceof Promise ? chosen.then((targets) => ({ ...targets, sent })) : { ...chosen, sent };
}

async function routeTurn(gateway: ChatServices, read: ReadCall, opening: Promise<ResponseTurn>): Promise<ChosenTargets> {
  const turn = await opening;
  // A background response outlives its client.
  if (!read.isBackground) {
    const { response } = read.call;
    response.on('close', turn.close);
    // A client that left while the turn was opened is not told of again, and its conversation would stay locked.
    if (response.destroyed) turn.close();
  }
  try {
    if (read.isBackground && !turn.isStored) throw neverStored();
    return await chooseTargets(gateway, read, turn);
  } catch (error) {
    turn.close();
    throw error;
  }
}

function neverStored(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'background: responses to this key are never stored, and one that runs in the background has to be',
    {
      param: 'background',
    },
  );
}

/** The targets of a call, best first: before all others the one that keeps what it goes on from, where one does. */
function chooseTargets(
  gateway: ChatServices,
  { call: { dialect, operation }, settings, caller }: ReadCall,
  going: ResponseTurn | { readonly request: WireRequest; readonly facts: CallFacts; readonly turn: undefined },
): ChosenTargets | Promise<ChosenTargets> {
  const { clock, random, replyOwners } = gateway;
  const { request, facts } = going;
  const turn = 'turn' in going ? undefined : going;
  const health = settings.retries.avoidFailing ? gateway.health : alwaysHealthy;
  // Counting is free, and some vendors count for models of other kinds too.
  const kind = operation === 'count-tokens' ? undefined : 'chat';
  const call = { table: settings.routing, dialect, request, caller, kind, health, nowMs: clock.monotonicMs(), random } as const;
  if (turn?.keeper !== undefined) return { turn, facts, targets: rankKeeperFirst(call, facts, turn.keeper) };
  if (facts.continues === undefined) return { turn, facts, targets: rankTargets({ ...call, facts }) };
  return replyOwners
    .check(facts.continues, caller.userName)
    .then((keptAt) => ({ turn, facts, targets: rankTargets({ ...call, facts, keptAt }) }));
}

/** Takes what the call needs of the limits that concern it; counting tokens is not limited. @throws GatewayError `rate_limited` */
function takeLimits(
  { limiter, clock }: ChatServices,
  { operation, dialect }: IncomingCall,
  known: { readonly settings: GatewaySettings; readonly caller: ApiKey; readonly facts: CallFacts; readonly target: Target | undefined },
): TakenLimits | Promise<TakenLimits> | undefined {
  if (operation === 'count-tokens') return undefined;
  const { settings, caller, facts, target } = known;
  return reserveCall({ limiter, clock, voice: dialect.voice, caller, perKey: settings.perKey, facts, model: target?.model });
}

/** Sets aside what the call may cost; counting tokens is free. @throws GatewayError where that is not to be had */
function holdCredit(
  gateway: ChatServices,
  { operation, dialect }: IncomingCall,
  purchase: Omit<Parameters<typeof takeChatCredit>[1], 'isLoop'>,
): CallCredit | undefined | Promise<CallCredit | undefined> {
  if (operation === 'count-tokens') return undefined;
  return takeChatCredit(gateway, { ...purchase, isLoop: () => needsToolLoop(gateway, { ...purchase, dialect }) });
}
