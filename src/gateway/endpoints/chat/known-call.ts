import type { AttemptedCall } from '../../attempts/call.ts';
import type { IncomingCall } from './incoming-call.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ResponseTurn } from './responses/response-turn.ts';

/** What is known of a chat before its first attempt. */
export type KnownCall = AttemptedCall & {
  readonly report: CallReport;
  readonly call: IncomingCall;
  /** Where it goes on from something stored, or is to be stored. */
  readonly turn?: ResponseTurn | undefined;
};
