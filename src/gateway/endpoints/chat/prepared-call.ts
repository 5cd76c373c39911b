import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import type { IncomingCall } from './incoming-call.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { ResponseTurn } from './responses/response-turn.ts';

/** A chat that is prepared for its first attempt. */
export type PreparedCall = AttemptedCall & {
  readonly report: CallReport;
  readonly call: IncomingCall;
  /** The request in the neutral form if the gateway makes the call itself: in a round of a loop. */
  readonly neutral?: InferenceRequest;
  /** Present if it continues a stored response, or is to be stored. */
  readonly turn?: ResponseTurn | undefined;
};
