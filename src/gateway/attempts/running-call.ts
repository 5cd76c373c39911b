import type { GatewayError } from '../../inference/gateway-error.ts';
import type { DeadlineCheck } from '../../platform/http/deadlines.ts';

/** A call under way, as the clock and the shutdown see it. */
export type RunningCall = DeadlineCheck & {
  /** Ends the call from outside: a running stream gets its error event. */
  readonly terminate: (error: GatewayError) => void;
  /** The id of a call with rows in the books to which more may be added; undefined where there are none. */
  readonly bookedInParts?: () => string | undefined;
};
