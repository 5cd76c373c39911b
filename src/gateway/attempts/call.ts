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

/**
 * One round of the tool loop. It is always translated, has its own row in the books, and reports its end to the loop.
 */
type CallRound = {
  readonly rowId: string;
  /** Absent in the first round, whose row is the call's. */
  readonly parentCallId?: string;
  /** Characters of this round's content that the client has received. */
  readonly delivered: () => number;
  /** Called with the entry when it is in the books. */
  readonly settled: (entry: CallEntry, error: GatewayError | undefined) => void;
};

/** An admitted and routed call of any endpoint, as its attempts need it. */
export type AttemptedCall = {
  readonly callId: string;
  /** The client's interface, as the books name it. */
  readonly label: string;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  readonly facts: CallFacts;
  readonly framing: StreamFraming | undefined;
  /** The targets that can answer it, best first. */
  readonly targets: readonly Target[];
  readonly taken: TakenLimits | undefined;
  /** Its hold. Absent if nothing limits the caller's spending. */
  readonly credit?: CallCredit | undefined;
  /** The action when its client disconnects. Absent: `abort`. */
  readonly disconnect?: DisconnectPolicy | undefined;
  readonly admission: Pick<Admission, 'releaseBytes'>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  readonly report: AttemptReport;
  /** Set if it is a part of another call but not a round of it. */
  readonly parentCallId?: string;
  /** Set if these attempts are one round of the tool loop, which sends several requests to the model for one call. */
  readonly round?: CallRound;
};
