import type { CallEnd, CallEntry, CallOpening, Charge } from '../../../billing/ledger/call-entry.ts';
import { disputeUsage, type RatedUsage } from '../../../billing/metering/dispute-usage.ts';
import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import type { CallTrace } from '../../attempts/books/settle.ts';
import type { PreparedAudio } from './audio-job.ts';

/** How a call ended, and what it used. */
export type AudioOutcome = {
  readonly end: Exclude<CallEnd, 'lost'>;
  readonly metered: MeteredCall;
  readonly error?: GatewayError | undefined;
  /** What its upstream said of its usage. */
  readonly report?: UsageReport | undefined;
};

/** What a call used that failed: nothing, whatever its upstream did. */
export const nothingUsed: MeteredCall = { usage: {}, estimated: false };

/** How a call ended whose client had left: that is what is told of it. One that failed is free all the same. */
export function endLeftAudio({ end, metered, report }: AudioOutcome): AudioOutcome {
  return { end: end === 'failed' ? end : 'client-left', metered, report };
}

/** What a call about sound is priced by, and what it can have used: asked where its upstream has reported something. */
type AudioPrices = { readonly priceBook: PriceBook } & Pick<PreparedAudio, 'bounds' | 'possible'>;

/** Sound that was measured, and characters, are the gateway's own counts. What an upstream reports is held against what the sound and the text can come to. */
function rateAudio(
  { vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId }: CallOpening,
  { metered, report }: AudioOutcome,
  { priceBook, bounds, possible }: AudioPrices,
): RatedUsage {
  const call = { vendor, upstreamModel, requestedModel, acceptedAtMs, userName, keyId };
  const rate = ({ usage }: MeteredCall): Charge => priceBook.rate({ ...call, usage });
  const rated = { metered, charge: rate(metered) };
  if (report === undefined) return rated;
  const most = possible();
  const bound = { most, nanoUsd: priceBook.most({ ...call, most }), instead: bounds().most, provesCounts: false };
  return disputeUsage(rated, { report, inputCharacters: 0, outputCharacters: 0 }, bound, rate);
}

/** Makes the ledger row of a call whose usage is counted already, and prices it with the book pinned at admission. */
export function settleAudio(opening: CallOpening, outcome: AudioOutcome, trace: CallTrace, prices: AudioPrices): CallEntry {
  const { end, error } = outcome;
  const { metered, charge } = rateAudio(opening, outcome, prices);
  const { usage, estimated, rawUsage, disputed } = metered;
  const { upstreamStatus, upstreamRequestId, firstByteMs, durationMs } = trace;
  return {
    ...opening,
    end,
    usage,
    estimated,
    durationMs,
    charge,
    ...(disputed === undefined ? {} : { disputed }),
    ...(rawUsage === undefined ? {} : { rawUsage }),
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    ...(upstreamRequestId === undefined ? {} : { upstreamRequestId }),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(error === undefined ? {} : { errorCode: error.code }),
  };
}
