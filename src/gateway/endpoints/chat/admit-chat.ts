import type { ApiKey } from '../../../accounts/api-key.ts';
import { authenticate, checkCaller } from '../../admission/authenticate.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ChatServices } from './chat-services.ts';
import type { IncomingCall } from './incoming-call.ts';

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
  const enter = (caller: ApiKey): AdmittedChat | undefined | Promise<AdmittedChat | undefined> => {
    report.caller = caller;
    checkCaller(caller, call.request, acceptedAtMs, settings.isProxy);
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
