import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { CallEnd, CallEntry, CallOpening, Charge } from '../../../billing/ledger/call-entry.ts';
import { type CallBound, disputeUsage, type RatedUsage } from '../../../billing/metering/dispute-usage.ts';
import { type MeteredCall, meterCall } from '../../../billing/metering/meter-call.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { Outcome } from '../exchange/exchange-context.ts';

/** What a call has learnt on its way, besides its outcome. */
export type CallTrace = {
  readonly upstreamStatus?: number | undefined;
  readonly upstreamRequestId?: string | undefined;
  readonly firstByteMs?: number | undefined;
  readonly durationMs: number;
};

/** A report in which the vendor's own way of counting has been set right. */
export function correctReport(report: ReplyReport, vendor: UpstreamVendor, dialect: DialectId | undefined): ReplyReport {
  if (report.usageReport === undefined || dialect === undefined || vendor.correctUsage === undefined) return report;
  return { ...report, usageReport: vendor.correctUsage(report.usageReport, dialect) };
}

/** A call whose upstream never answered delivered nothing, even where its client left first. */
function finalEnd(outcome: Outcome, trace: CallTrace): CallEnd {
  return trace.upstreamStatus === undefined ? 'failed' : outcome.end;
}

/** What one call can have used at most, found out only where its report makes one wonder. */
export type UsageBound = {
  /** Whether counts, or what they cost, are more than calls usually come to. Cheap: every call is asked. */
  readonly isSuspicious: (usage: Usage, amountNanoUsd: bigint, report?: UsageReport) => boolean;
  readonly find: () => CallBound;
};

/** A call of whose request nothing is known can have used anything. */
const boundless: CallBound = { most: {}, nanoUsd: 2n ** 200n, provesCounts: false };

/** What a call that ended so has used and is charged: the one answer for its books and for what its client is told. Pure. */
export function meterAndRate(
  opening: CallOpening,
  { end, complete, report, metered: counted }: Omit<Outcome, 'end'> & { readonly end: CallEnd },
  priceBook: PriceBook,
  bound?: UsageBound,
): RatedUsage {
  const { inputCharacters } = opening;
  const outputCharacters = report?.outputCharacters ?? 0;
  const usageReport = report?.usageReport;
  const measured = { end, report: usageReport, complete, inputCharacters, outputCharacters };
  const metered = counted === undefined || end === 'failed' ? meterCall(measured) : counted;
  const rate = (counted: MeteredCall): Charge => rateUsage(opening, counted, priceBook);
  const charge = rate(metered);
  const isSuspicious = usageReport?.trustworthy === false || bound?.isSuspicious(metered.usage, charge.amountNanoUsd, usageReport) === true;
  if (!isSuspicious || end === 'failed') return { metered, charge };
  const call = { report: usageReport, inputCharacters, outputCharacters };
  return disputeUsage({ metered, charge }, call, bound?.find() ?? boundless, rate);
}

function rateUsage(opening: CallOpening, { usage, serviceTier, replyParameters }: MeteredCall, priceBook: PriceBook): Charge {
  return priceBook.rate({
    vendor: opening.vendor,
    upstreamModel: opening.upstreamModel,
    requestedModel: opening.requestedModel,
    acceptedAtMs: opening.acceptedAtMs,
    userName: opening.userName,
    keyId: opening.keyId,
    usage,
    serviceTier,
    pricingParameters: replyParameters === undefined ? opening.pricingParameters : { ...opening.pricingParameters, ...replyParameters },
  });
}

type Writable<Type> = { -readonly [Member in keyof Type]: Type[Member] };

/** Vendors' ids have some fifty characters; a longer one is somebody's attempt to fill an index. */
const replyIdCharactersMax = 256;

/**
 * Makes the ledger row of a call: meter, then rate with the price book pinned at admission. Pure; the journal does the rest.
 */
export function settleCall(
  opening: CallOpening,
  outcome: Outcome,
  trace: CallTrace,
  {
    priceBook,
    keepsReply,
    bound,
  }: { readonly priceBook: PriceBook; readonly keepsReply: boolean; readonly bound?: UsageBound | undefined },
): CallEntry {
  const { report } = outcome;
  const end = finalEnd(outcome, trace);
  const { metered, charge } = meterAndRate(opening, { ...outcome, end }, priceBook, bound);
  const { usage, estimated, rawUsage, serviceTier, replyParameters, disputed } = metered;
  // Built member by member: spreading what is optional costs several times as much, and this runs for every call.
  const entry: Writable<CallEntry> = { ...opening, end, usage, estimated, durationMs: trace.durationMs, charge };
  if (rawUsage !== undefined) entry.rawUsage = rawUsage;
  if (trace.upstreamStatus !== undefined) entry.upstreamStatus = trace.upstreamStatus;
  if (trace.upstreamRequestId !== undefined) entry.upstreamRequestId = trace.upstreamRequestId;
  if (trace.firstByteMs !== undefined) entry.firstByteMs = trace.firstByteMs;
  if (serviceTier !== undefined) entry.serviceTier = serviceTier;
  if (replyParameters !== undefined) entry.replyParameters = replyParameters;
  if (disputed !== undefined) entry.disputed = disputed;
  if (outcome.error !== undefined) entry.errorCode = outcome.error.code;
  if (report === undefined) return entry;
  if (report.servedModel !== undefined) entry.servedModel = report.servedModel;
  if (report.replyId !== undefined && keepsReply) entry.replyId = report.replyId.slice(0, replyIdCharactersMax);
  if (report.stopReason !== undefined) entry.stopReason = report.stopReason;
  return entry;
}
