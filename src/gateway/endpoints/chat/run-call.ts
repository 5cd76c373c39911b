import { largeBodyBytes, yieldIfLong } from '../../../platform/yield-queue.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { startBackground } from './background/start-background.ts';
import { ChatJob } from './chat-job.ts';
import type { ChatServices } from './chat-services.ts';
import { enterChat, type ReadCall, readChat } from './admit-chat.ts';
import { deliver } from './reply-form.ts';
import { type ChatPath, type IncomingCall, type PreparedCall, readCall } from './incoming-call.ts';
import { orderImages } from './order-images.ts';
import { type RoutedCall, routeChat } from './route-chat.ts';
import { needsToolLoop, runToolLoop } from './tool-loop/run-tool-loop.ts';
import { beginReport } from '../shared/begin-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { type TakenLimits, reserveCall } from '../../admission/limits/reserve-call.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { type RequestedChat, takeChatCredit } from './chat-credit.ts';

/**
 * Takes one call through its stations, up to the start of its exchange. The exchange then continues by itself and
 * settles the call. Every refusal before that is thrown as a GatewayError, and nothing was spent.
 */
export async function runCall(gateway: ChatServices, arriving: IncomingCall, report: CallReport): Promise<void> {
  const entering = enterChat(gateway, arriving, report);
  const entered = entering instanceof Promise ? await entering : entering;
  if (entered === undefined) return;
  const read = await readChat(gateway, arriving, entered, report);
  const { call, settings, caller, admission, acceptedAtMs, startedMs } = read;
  const imaged = answerWithImages(gateway, read, report);
  if (imaged !== undefined) return await imaged;
  const routing = routeChat(gateway, read, report);
  const { facts, targets, turn, sent } = routing instanceof Promise ? await routing : routing;
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const taking = takeLimits(gateway, read, facts, targets[0]);
  const taken = taking instanceof Promise ? await taking : taking;
  let credit: CallCredit | undefined;
  // Releases what was reserved for a call that is not made. After the exchange has ended, nothing is left to release.
  const onRefused = (): void => {
    taken?.reservation.release();
    credit?.end();
  };
  try {
    const holding = holdCredit(gateway, call, { settings, caller, acceptedAtMs, facts, targets, framing, request: sent.request, turn });
    credit = holding instanceof Promise ? await holding : holding;
    const prepared: PreparedCall = {
      callId: call.callId,
      label: call.dialect.id,
      call,
      settings,
      caller,
      admission,
      acceptedAtMs,
      startedMs,
      facts,
      framing,
      targets,
      taken,
      credit,
      disconnect: read.isBackground ? undefined : (caller.disconnectPolicy ?? settings.disconnect),
      turn,
      report,
    };
    if (!read.isBackground) return await makeCall(gateway, prepared, sent);
    const make = async (current: IncomingCall): Promise<void> => makeCall(gateway, { ...prepared, call: current }, sent);
    await startBackground(gateway, { call, report, turn, body: read.received.body, callbackUrl: read.callbackUrl, onRefused }, make);
  } catch (error) {
    onRefused();
    throw error;
  }
}

/** Answers a chat that asks for images of a model that only makes images. Undefined for other chats. */
function answerWithImages(
  { imageMaker }: Pick<ChatServices, 'imageMaker'>,
  { call, settings, caller, request, admission, acceptedAtMs, startedMs }: ReadCall,
  report: CallReport,
): Promise<void> | undefined {
  const { callId, response, dialect } = call;
  if (imageMaker === undefined || dialect.images === undefined) return undefined;
  const order = orderImages({ callId, dialect, routing: settings.routing, caller, request });
  if (order === undefined) return undefined;
  const disconnect = caller.disconnectPolicy ?? settings.disconnect;
  const shared = { callId, response, report, settings, caller, disconnect, admission, acceptedAtMs, startedMs };
  return imageMaker.make({ ...shared, headers: request.headers }, order);
}

/** Makes the call: once, or as often as its built-in tools require. */
function makeCall(gateway: ChatServices, prepared: PreparedCall, sent: RoutedCall['sent']): Promise<void> {
  const { call, facts, settings, targets } = prepared;
  const isLoop = call.operation === 'generate' && needsToolLoop(gateway, { dialect: call.dialect, facts, settings, targets });
  if (isLoop || sent.bytes.length > largeBodyBytes) return makeLater(gateway, prepared, sent, isLoop);
  return startAttempts(gateway, prepared, sent);
}

async function makeLater(gateway: ChatServices, prepared: PreparedCall, sent: RoutedCall['sent'], isLoop: boolean): Promise<void> {
  // Translation of a large body comes next and takes a while again.
  const yielding = sent.bytes.length > largeBodyBytes ? yieldIfLong() : undefined;
  if (yielding !== undefined) await yielding;
  const { request } = sent;
  if (isLoop) {
    const whole = prepared.turn === undefined ? request : await prepared.turn.whole();
    if (await runToolLoop(gateway, prepared, { request: whole, original: request })) return;
  }
  await startAttempts(gateway, prepared, sent);
}

function startAttempts(gateway: ChatServices, prepared: PreparedCall, sent: RoutedCall['sent']): Promise<void> {
  return deliver(prepared.call, prepared.framing, (form, sink) =>
    new CallAttempts(gateway, prepared, new ChatJob(gateway, prepared, form, sent), sink).start(),
  );
}

/** Serves a request to a path of chats. */
export function serveChat(services: ChatServices, http: EndpointRequest, path: ChatPath): Promise<void> {
  return runCall(services, readCall(path, http), beginReport(services, http, path.dialect, path.operation));
}

/** Reserves the call's share of its limits. Token counts are not limited. @throws GatewayError `rate_limited` */
function takeLimits(
  { limiter, clock }: ChatServices,
  { call: { operation, dialect }, settings, caller }: ReadCall,
  facts: CallFacts,
  target: Target | undefined,
): TakenLimits | Promise<TakenLimits> | undefined {
  if (operation === 'count-tokens') return undefined;
  return reserveCall({ limiter, clock, voice: dialect.voice, caller, perKey: settings.perKey, facts, model: target?.model });
}

/** Holds the most that the call may cost. Token counts are free. @throws GatewayError if that is not available */
function holdCredit(
  gateway: ChatServices,
  { operation, dialect }: IncomingCall,
  purchase: RequestedChat,
): CallCredit | undefined | Promise<CallCredit | undefined> {
  if (operation === 'count-tokens') return undefined;
  return takeChatCredit(gateway, purchase, () => needsToolLoop(gateway, { ...purchase, dialect }));
}
