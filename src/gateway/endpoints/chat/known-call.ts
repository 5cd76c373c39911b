import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import type { IncomingCall } from './incoming-call.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ResponseTurn } from './responses/response-turn.ts';

/** What is known of a chat before its first attempt. */
export type KnownCall = AttemptedCall & {
  readonly report: CallReport;
  readonly call: IncomingCall;
  /** The request in the neutral form, where it is the gateway that asks: in a round of a loop. */
  readonly neutral?: InferenceRequest;
  /** Where it goes on from something stored, or is to be stored. */
  readonly turn?: ResponseTurn | undefined;
};
