import type { CreditDesk } from '../../billing/credits/credit-desk.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CallerDirectory } from './authenticate.ts';
import type { SharedLimiter } from './limits/limiter.ts';
import type { Recording } from '../recording/recording.ts';
import type { Gatekeeper } from './overload/gatekeeper.ts';

/** The services that admit or refuse calls. */
export type AdmissionServices = {
  readonly callers: CallerDirectory;
  readonly gatekeeper: Gatekeeper;
  readonly limiter: SharedLimiter;
  readonly clock: Clock;
  /** Keeps the content of calls whose key lets it. Absent if nothing is ever kept. */
  readonly recording?: Recording | undefined;
  /** The source of holds. Absent if nobody's spending is limited. */
  readonly credits?: CreditDesk | undefined;
};
