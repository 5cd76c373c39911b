import type { ApiKey } from '../../../accounts/api-key.ts';
import { authenticate, checkCaller } from '../../admission/authenticate.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ChatServices } from './chat-services.ts';
import { type IncomingCall, recordedChat, toWireRequest } from './incoming-call.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import { readingAhead } from '../../../platform/json/lazy-object.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { largeBodyBytes, yieldIfLong } from '../../../platform/yield-queue.ts';
import { type ReadRequest, readRequest } from '../../admission/read-request.ts';
import { withHeaderTags, withMetadataTags } from '../../admission/request-tags.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { type CloudForm, openChat } from './clouds/open-chat.ts';
import { readBackground, takeCallbackUrl } from './background/background-request.ts';

/** A chat whose caller was admitted. */
export type AdmittedChat = {
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  /** Its place in this process. */
  readonly admission: Admission;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
};

/**
 * Authenticates the caller of a chat and admits it: at once, unless a key must be looked up or the call must wait for a
 * place. Undefined: the call was refused and answered, or its client has disconnected.
 * @throws GatewayError if the caller is unknown, or if its key may not be used now or from this address
 */
export function enterChat(
  gateway: ChatServices,
  call: IncomingCall,
  report: CallReport,
): AdmittedChat | undefined | Promise<AdmittedChat | undefined> {
  const { clock, callers, gatekeeper } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const enter = (found: ApiKey): AdmittedChat | undefined | Promise<AdmittedChat | undefined> => {
    report.caller = found;
    gateway.recording?.begin(found, report, call.request);
    const caller = (report.caller = withHeaderTags(found, call.request.headers));
    checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
    callers.noteUse?.(caller.id);
    const { callId, request, response, dialect } = call;
    const entering = enterGate(gatekeeper, { callId, request, response, voice: dialect.voice }, report, caller.userId);
    const concluded = (admission: Admission | undefined): AdmittedChat | undefined =>
      admission === undefined ? undefined : { settings, caller, admission, acceptedAtMs, startedMs };
    if (!(entering instanceof Promise)) return concluded(entering);
    return entering.then((admission) => {
      report.queueMs = Math.round(clock.monotonicMs() - startedMs);
      return concluded(admission);
    });
  };
  const found = authenticate(call.request, call.queryKeys, callers);
  return found instanceof Promise ? found.then(enter) : enter(found);
}

/** A chat whose body was read and is valid: it can be routed. */
export type ReadCall = AdmittedChat & {
  /** The call as its dialect's own path would have received it. */
  readonly call: IncomingCall;
  /** The client's body, without fields that are only for the gateway. */
  readonly received: ReadRequest;
  /** The request to make. For a background response it is a stream to this process. */
  readonly request: WireRequest;
  readonly bytes: Buffer;
  readonly isBackground: boolean;
  /** The address that is notified of the end of a background response. */
  readonly callbackUrl: string | undefined;
};

/** Reads and validates the body of a chat, which may have tags of its caller. @throws GatewayError if it is invalid */
export function readChat(
  services: Pick<ChatServices, 'callbacks'>,
  arriving: IncomingCall,
  admitted: AdmittedChat,
  report: Pick<CallReport, 'caller' | 'recorder'>,
): Promise<ReadCall> {
  const { settings, admission } = admitted;
  const { cloud } = arriving;
  return readRequest(arriving.request, settings.limits, (held) => admission.holdBytes(held)).then((sent) => {
    if (cloud === undefined) return checkChat(services, arriving, sent, admitted, report);
    return openCall(arriving, cloud, sent, admitted).then(({ call, raw }) => checkChat(services, call, raw, admitted, report));
  });
}

/** Validates a chat: at once, unless its body is large. */
function checkChat(
  { callbacks }: Pick<ChatServices, 'callbacks'>,
  call: IncomingCall,
  raw: ReadRequest,
  admitted: AdmittedChat,
  report: Pick<CallReport, 'caller' | 'recorder'>,
): ReadCall | Promise<ReadCall> {
  const { settings, admission, acceptedAtMs, startedMs } = admitted;
  report.recorder?.request(raw.bytes, recordedChat(call));
  const { request: received, callbackUrl } = takeCallbackUrl(callbacks, call, raw);
  admission.holdBytes(received.bytes.length);
  const wire = toWireRequest(call, received.body);
  const validating = readingAhead(received.body, () => call.dialect.validateRequest(wire, settings.validation));
  const conclude = (): ReadCall | Promise<ReadCall> => {
    const background = readBackground(call, received);
    const request = background === undefined ? wire : toWireRequest(call, background.body);
    const caller = withBodyTags(admitted.caller, settings, call, received.body);
    report.caller = caller;
    const isBackground = background !== undefined;
    const { bytes } = background ?? received;
    const read = { settings, caller, admission, acceptedAtMs, startedMs, call, received, request, bytes, isBackground, callbackUrl };
    // Validation and encoding of a large body each take a while; other calls run between them.
    return (bytes.length > largeBodyBytes ? yieldIfLong()?.then(() => read) : undefined) ?? read;
  };
  return validating instanceof Promise ? validating.then(conclude) : conclude();
}

/** The caller with the tags that the body of its call names. Generate-content has labels in place of metadata. */
function withBodyTags(caller: ApiKey, { metadataTags }: GatewaySettings, { dialect }: IncomingCall, body: JsonObject): ApiKey {
  if (metadataTags === undefined) return caller;
  const member = dialect.id === 'gemini-generate-content' ? 'labels' : 'metadata';
  return withMetadataTags(caller, metadataTags, body[member], member);
}

/** A call in the form of a cloud, and its request, in the form of the dialect. */
async function openCall(
  call: IncomingCall,
  cloud: CloudForm,
  raw: ReadRequest,
  { settings: { limits, routing }, caller }: Pick<AdmittedChat, 'settings' | 'caller'>,
): Promise<{ readonly call: IncomingCall; readonly raw: ReadRequest }> {
  const { dialect, pathModel } = call;
  const { headers: sentHeaders } = toWireRequest(call, raw.body);
  const opening = { limits, table: routing, headers: sentHeaders, isStrict: caller.strictTranslation };
  const { headers, pathModel: served, ...opened } = await openChat(raw, { dialect: dialect.id, cloud, pathModel }, opening);
  const model = cloud.model ?? textOf(raw.body['model']);
  const named = model === undefined ? cloud : { ...cloud, model };
  return { call: { ...call, headers, pathModel: served ?? pathModel, cloud: named }, raw: opened };
}
