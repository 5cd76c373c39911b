import type { ApiKey } from '../../accounts/api-key.ts';
import type { CallEntry, DisconnectPolicy } from '../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../inference/call-facts.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import type { CallCredit } from '../admission/credits/call-credit.ts';
import type { TakenLimits } from '../admission/limits/reserve-call.ts';
import type { Admission } from '../admission/overload/fair-gate.ts';
import type { AttemptReport } from '../telemetry/call-report.ts';
import type { Target } from './routing/target.ts';
import type { GatewaySettings } from './services.ts';

/** One round of a call's loop: it is always translated, has a row of its own in the books, and tells the loop of its end. */
type CallRound = {
  readonly rowId: string;
  /** Absent in the first round, whose row is the call's. */
  readonly parentCallId?: string;
  /** Characters of this round's content that have been handed to the client by now. */
  readonly delivered: () => number;
  /** Hears of the entry, once it is in the books. */
  readonly settled: (entry: CallEntry, error: GatewayError | undefined) => void;
};

/** A call that was admitted and routed, as its attempts see it: whatever its endpoint. */
export type AttemptedCall = {
  readonly callId: string;
  /** The client's interface, as the books name it. */
  readonly label: string;
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
  /** Its place in this process. */
  readonly admission: Pick<Admission, 'releaseBytes'>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  readonly report: AttemptReport;
  /** Set where it is a part of another call without being a round of it. */
  readonly parentCallId?: string;
  /** Set when these attempts are one round of a loop that asks the model several times for one call. */
  readonly round?: CallRound;
};
