import type { CallEnd, CallEntry, CallOpening } from '../../billing/ledger/call-entry.ts';
import type { MeteredCall } from '../../billing/metering/meter-call.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { CallTrace } from '../settle.ts';

/** How a call ended, and what it used. */
export type AudioOutcome = {
  readonly end: Exclude<CallEnd, 'lost'>;
  readonly metered: MeteredCall;
  readonly error?: GatewayError | undefined;
};

/** What a call used that failed: nothing, whatever its upstream did. */
export const nothingUsed: MeteredCall = { usage: {}, estimated: false };

/** How a call ended whose client had left: that is what is told of it. One that failed is free all the same. */
export function endLeftAudio({ end, metered }: AudioOutcome): AudioOutcome {
  return { end: end === 'failed' ? end : 'client-left', metered };
}

/** Makes the ledger row of a call whose usage is counted already, and prices it with the book pinned at admission. */
export function settleAudio(
  opening: CallOpening,
  { end, metered, error }: AudioOutcome,
  trace: CallTrace,
  priceBook: PriceBook,
): CallEntry {
  const { usage, estimated, rawUsage } = metered;
  const { vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId } = opening;
  const { upstreamStatus, upstreamRequestId, firstByteMs, durationMs } = trace;
  return {
    ...opening,
    end,
    usage,
    estimated,
    durationMs,
    charge: priceBook.rate({ vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId, usage }),
    ...(rawUsage === undefined ? {} : { rawUsage }),
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    ...(upstreamRequestId === undefined ? {} : { upstreamRequestId }),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(error === undefined ? {} : { errorCode: error.code }),
  };
}
