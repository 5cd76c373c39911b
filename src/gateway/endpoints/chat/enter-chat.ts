import type { ApiKey } from '../../../accounts/api-key.ts';
import { authenticate } from '../../admission/authenticate.ts';
import { checkCaller } from '../../admission/check-caller.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ChatServices } from './chat-services.ts';
import type { IncomingCall } from './incoming-call.ts';

/** A chat that was let in. */
export type EnteredChat = {
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  /** Its place in this process. */
  readonly admission: Admission;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
};

/**
 * Finds the caller of a chat and lets it in. At once, unless a key has to be looked up or a place waited for. Undefined: it was refused and has its answer, or its
 * client has left.
 * @throws GatewayError for a caller who is not known, or whose key may not be used now or from here
 */
export function enterChat(
  gateway: ChatServices,
  call: IncomingCall,
  report: CallReport,
): EnteredChat | undefined | Promise<EnteredChat | undefined> {
  const { clock, callers, gatekeeper } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const enter = (caller: ApiKey): EnteredChat | undefined | Promise<EnteredChat | undefined> => {
    report.caller = caller;
    checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
    const { callId, request, response, dialect } = call;
    const entering = enterGate(gatekeeper, { callId, request, response, voice: dialect.voice }, report, caller.userId);
    const concluded = (admission: Admission | undefined): EnteredChat | undefined =>
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
