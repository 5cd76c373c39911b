import type { ApiKey } from '../../accounts/api-key.ts';
import type { DisconnectPolicy } from '../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import type { Watched } from '../../platform/http/deadlines.ts';
import type { IncomingCall } from '../endpoints/chat/run-call.ts';
import type { CallCredit } from '../admission/credits/call-credit.ts';
import type { GatewaySettings } from '../endpoints/gateway.ts';
import type { TakenLimits } from '../admission/limits/reserve-call.ts';
import type { Admission } from '../admission/overload/fair-gate.ts';
import type { Target } from './routing/routing-table.ts';
import type { ResponseTurn } from '../endpoints/chat/responses/response-turn.ts';
import type { CallReport } from '../telemetry/call-report.ts';
import type { CallRound } from './call-round.ts';

/** A call under way, as the clock and the shutdown see it. */
export type RunningCall = Watched & {
  /** Ends the call from outside: a running stream gets its error event. */
  readonly terminate: (error: GatewayError) => void;
  /** The id of a call with rows in the books to which more may be added; undefined where there are none. */
  readonly bookedInParts?: () => string | undefined;
};

/** What is known of a call before its first attempt. */
export type KnownCall = {
  readonly call: IncomingCall;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  readonly facts: CallFacts;
  readonly framing: StreamFraming | undefined;
  /** The targets that may answer it, best first. */
  readonly targets: readonly Target[];
  readonly taken: TakenLimits | undefined;
  /** What is held for it; absent where nothing limits what its caller spends. */
  readonly credit?: CallCredit | undefined;
  /** What is done when its client leaves. Absent: `abort`. */
  readonly disconnect?: DisconnectPolicy | undefined;
  /** Where it goes on from something stored, or is to be stored. */
  readonly turn?: ResponseTurn | undefined;
  /** Its place in this process. */
  readonly admission: Pick<Admission, 'releaseBytes'>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  /** What is told of the call. */
  readonly report: CallReport;
  /** Set when these attempts are one round of a loop that asks the model several times for one call. */
  readonly round?: CallRound;
};
