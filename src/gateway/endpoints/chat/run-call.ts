import { largeBodyBytes, yieldIfLong } from '../../../platform/yield-queue.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { startBackground } from './background/start-background.ts';
import { ChatJob } from './chat-job.ts';
import type { ChatServices } from './chat-services.ts';
import { type AdmittedChat, enterChat, readChat } from './admit-chat.ts';
import { withMetadataTags } from '../../admission/request-tags.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { deliver } from './reply-form.ts';
import { type ChatPath, type IncomingCall, type PreparedCall, identify, readCall } from './incoming-call.ts';
import { orderImages } from './order-images.ts';
import { type ReadCall, type RoutedCall, routeChat } from './route-chat.ts';
import { needsToolLoop, runToolLoop } from './tool-loop/run-tool-loop.ts';
import { beginReport } from '../shared/begin-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { type TakenLimits, reserveCall } from '../../admission/limits/reserve-call.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import { takeChatCredit } from './chat-credit.ts';

/**
 * Takes one call through its stations, up to the start of its exchange. The exchange then continues by itself and
 * settles the call. Every refusal before that is thrown as a GatewayError, and nothing was spent.
 */
export async function runCall(gateway: ChatServices, arriving: IncomingCall, report: CallReport): Promise<void> {
  const entering = enterChat(gateway, arriving, report);
  const entered = entering instanceof Promise ? await entering : entering;
  if (entered === undefined) return;
  const read = await readChat(gateway, arriving, entered, report);
  const { call } = read;
  const admitted = withBodyTags(entered, call, read.received.body);
  report.caller = admitted.caller;
  const { settings, caller, admission, acceptedAtMs, startedMs } = admitted;
  // A second spread would cost several times as much as the members, and this runs for every call.
  const reading = { ...read, settings, caller, admission, acceptedAtMs, startedMs };
  const imaged = answerWithImages(gateway, reading, report);
  if (imaged !== undefined) return await imaged;
  const routing = routeChat(gateway, reading, report);
  const routed = routing instanceof Promise ? await routing : routing;
  const { facts, targets, turn, sent } = routed;
  const framing = call.pathFraming ?? (facts.stream ? 'sse' : undefined);
  const taking = takeLimits(gateway, call, { settings, caller, facts, target: targets[0] });
  const reserved = taking instanceof Promise ? await taking : taking;
  let credit: CallCredit | undefined;
  // Releases what was reserved for a call that is not made. After the exchange has ended, nothing is left to release.
  const onRefused = (): void => {
    reserved?.reservation.release();
    credit?.end();
  };
  try {
    const holding = holdCredit(gateway, call, { ...admitted, facts, targets, framing, request: sent.request, turn });
    credit = holding instanceof Promise ? await holding : holding;
    const disconnect = read.isBackground ? undefined : (caller.disconnectPolicy ?? settings.disconnect);
    const prepared = { ...admitted, facts, framing, targets, taken: reserved, credit, disconnect, turn, report };
    const make = (current: IncomingCall): Promise<void> => {
      const { callId, label } = identify(current);
      return makeCall(gateway, { ...prepared, callId, label, call: current }, sent);
    };
    if (!read.isBackground) await make(call);
    else await startBackground(gateway, { call, report, turn, body: read.received.body, callbackUrl: read.callbackUrl, onRefused }, make);
  } catch (error) {
    onRefused();
    throw error;
  }
}

/** The call with the tags that its body names. Generate-content has labels in place of metadata. */
function withBodyTags(admitted: AdmittedChat, { dialect }: IncomingCall, body: JsonObject): AdmittedChat {
  const { metadataTags } = admitted.settings;
  if (metadataTags === undefined) return admitted;
  const member = dialect.id === 'gemini-generate-content' ? 'labels' : 'metadata';
  return { ...admitted, caller: withMetadataTags(admitted.caller, metadataTags, body[member], member) };
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
async function makeCall(gateway: ChatServices, prepared: PreparedCall, { request, bytes }: RoutedCall['sent']): Promise<void> {
  const { call, facts, settings, targets, turn } = prepared;
  // Translation of a large body comes next and takes a while again.
  const yielding = bytes.length > largeBodyBytes ? yieldIfLong() : undefined;
  if (yielding !== undefined) await yielding;
  if (call.operation === 'generate' && needsToolLoop(gateway, { dialect: call.dialect, facts, settings, targets })) {
    const whole = turn === undefined ? request : await turn.whole();
    if (await runToolLoop(gateway, prepared, { request: whole, original: request })) return;
  }
  await deliver(call, prepared.framing, (form, sink) =>
    new CallAttempts(gateway, prepared, new ChatJob(gateway, prepared, form, { request, bytes }), sink).start(),
  );
}

/** Serves a request to a path of chats. */
export function serveChat(services: ChatServices, http: EndpointRequest, path: ChatPath): Promise<void> {
  return runCall(services, readCall(path, http), beginReport(services, http, path.dialect, path.operation));
}

/** Reserves the call's share of its limits. Token counts are not limited. @throws GatewayError `rate_limited` */
function takeLimits(
  { limiter, clock }: ChatServices,
  { operation, dialect }: IncomingCall,
  query: { readonly settings: GatewaySettings; readonly caller: ApiKey; readonly facts: CallFacts; readonly target: Target | undefined },
): TakenLimits | Promise<TakenLimits> | undefined {
  if (operation === 'count-tokens') return undefined;
  const { settings, caller, facts, target } = query;
  return reserveCall({ limiter, clock, voice: dialect.voice, caller, perKey: settings.perKey, facts, model: target?.model });
}

/** Holds the most that the call may cost. Token counts are free. @throws GatewayError if that is not available */
function holdCredit(
  gateway: ChatServices,
  { operation, dialect }: IncomingCall,
  purchase: Omit<Parameters<typeof takeChatCredit>[1], 'isLoop'>,
): CallCredit | undefined | Promise<CallCredit | undefined> {
  if (operation === 'count-tokens') return undefined;
  return takeChatCredit(gateway, { ...purchase, isLoop: () => needsToolLoop(gateway, { ...purchase, dialect }) });
}
