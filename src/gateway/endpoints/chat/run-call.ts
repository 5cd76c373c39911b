import { giveWayIfLong, largeBodyBytes } from '../../../platform/turn-queue.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { startBackground } from './background/start-background.ts';
import { ChatJob } from './chat-job.ts';
import type { ChatServices } from './chat-services.ts';
import { enterChat } from './enter-chat.ts';
import { deliver } from './forms/deliver.ts';
import { identify, type IncomingCall } from './incoming-call.ts';
import type { KnownCall } from './known-call.ts';
import { readChat } from './read-chat.ts';
import { holdCredit, takeLimits } from './reserve-chat.ts';
import { orderPictures } from './order-pictures.ts';
import { type ReadCall, routeChat, type RoutedCall } from './route-chat.ts';
import { needsToolLoop, runToolLoop } from './tool-loop/run-tool-loop.ts';

/**
 * The road of one call, from its head to the moment its exchange runs; the exchange goes on by itself and settles the call. Every refusal on the
 * way is thrown as a GatewayError before anything was spent.
 */
export async function runCall(gateway: ChatServices, call: IncomingCall, report: CallReport): Promise<void> {
  const entering = enterChat(gateway, call, report);
  const entered = entering instanceof Promise ? await entering : entering;
  if (entered === undefined) return;
  const read = await readChat(gateway, call, entered);
  const pictured = answerWithPictures(gateway, { ...entered, ...read, call }, report);
  if (pictured !== undefined) return await pictured;
  const routing = routeChat(gateway, { ...entered, ...read, call }, report);
  const routed = routing instanceof Promise ? await routing : routing;
  const { facts, targets, turn, sent } = routed;
  const { settings, caller } = entered;
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
    const holding = holdCredit(gateway, call, { ...entered, facts, targets, framing, request: sent.request, turn });
    credit = holding instanceof Promise ? await holding : holding;
    const disconnect = read.isBackground ? undefined : (caller.disconnectPolicy ?? settings.disconnect);
    const known = { ...entered, facts, framing, targets, taken, credit, disconnect, turn, report };
    const make = (going: IncomingCall): Promise<void> => makeCall(gateway, { ...known, ...identify(going), call: going }, sent);
    if (!read.isBackground) await make(call);
    else await startBackground(gateway, { call, report, turn, body: read.asked.body, callbackUrl: read.callbackUrl, onRefused }, make);
  } catch (error) {
    onRefused();
    throw error;
  }
}

/** Has pictures made for a chat that asks for them of a model of pictures. Undefined where it is none. */
function answerWithPictures(
  { pictureMaker }: Pick<ChatServices, 'pictureMaker'>,
  { call, settings, caller, request, admission, acceptedAtMs, startedMs }: ReadCall,
  report: CallReport,
): Promise<void> | undefined {
  const { callId, response, dialect } = call;
  if (pictureMaker === undefined || dialect.pictures === undefined) return undefined;
  const order = orderPictures({ callId, dialect, routing: settings.routing, caller, request });
  if (order === undefined) return undefined;
  const disconnect = caller.disconnectPolicy ?? settings.disconnect;
  const known = { callId, response, report, settings, caller, disconnect, admission, acceptedAtMs, startedMs };
  return pictureMaker.make({ ...known, headers: request.headers }, order);
}

/** Makes the call: once, or as often as its built-in tools need. */
async function makeCall(gateway: ChatServices, known: KnownCall, { request, bytes }: RoutedCall['sent']): Promise<void> {
  const { call, facts, settings, targets, turn } = known;
  // It is translated next, which takes a large body its time once more.
  const giving = bytes.length > largeBodyBytes ? giveWayIfLong() : undefined;
  if (giving !== undefined) await giving;
  if (call.operation === 'generate' && needsToolLoop(gateway, { dialect: call.dialect, facts, settings, targets })) {
    const whole = turn === undefined ? request : await turn.whole();
    if (await runToolLoop(gateway, known, { request: whole, asked: request })) return;
  }
  await deliver(call, known.framing, (form, sink) =>
    new CallAttempts(gateway, known, new ChatJob(gateway, known, form, { request, bytes }), sink).start(),
  );
}
