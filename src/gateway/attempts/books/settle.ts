import type { CallEnd, CallEntry, CallOpening, Charge, DisconnectEvidence } from '../../../billing/ledger/call-entry.ts';
import { type CallBound, disputeUsage, type RatedUsage } from '../../../billing/metering/dispute-usage.ts';
import { meterCall, type MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import type { ReplySink } from '../../replies/reply-sink.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { AttemptedCall } from '../call.ts';
import type { Departure } from '../exchange/client-disconnect.ts';
import type { ExchangeObserver, Outcome } from '../exchange/exchange-context.ts';
import type { AttemptServices } from '../services.ts';

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
function meterAndRate(
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

/** How a call ended whose client had left: that is what is told of it, however its upstream ended. One that failed is free all the same. */
function endLeft(outcome: Outcome): Outcome {
  const { error: _error, ...others } = outcome;
  return outcome.end === 'failed' ? outcome : { ...others, end: 'client-left' };
}

/** Whether the upstream's own final usage was read. */
function reportsUsage({ complete, report }: Outcome): boolean {
  return complete && report?.usageReport !== undefined;
}

/** The evidence of what was done when a client left. @param usageReported whether the upstream's own final usage was read @param endedAfterMs when its upstream was stopped or had ended, in milliseconds from acceptance */
function describeLeaving(
  { departure, afterMs }: { readonly departure: Departure; readonly afterMs: number },
  usageReported: boolean,
  endedAfterMs: number,
): DisconnectEvidence {
  return {
    policy: departure.policy,
    leftAfterMs: afterMs,
    deliveredCharacters: departure.deliveredCharacters,
    upstreamEndedAfterMs: endedAfterMs,
    usageReported,
  };
}

/** For operations that cost nothing: no books are kept, only how they ended is told. */
export function keepNoBooks(report: Pick<CallReport, 'ended'>): ExchangeObserver {
  return {
    head: () => {},
    firstContent: () => {},
    progress: () => {},
    settled: ({ end, error }, then) => {
      report.ended(end, error);
      then?.();
    },
  };
}

/** Follows an admitted call's exchange and writes it into the books: HEAD and PROGRESS as it goes, the settled entry at its end. */
export function keepBooks(options: {
  readonly services: Pick<AttemptServices, 'journal' | 'clock' | 'replyOwners'>;
  readonly opening: CallOpening;
  /** The dialect in which the upstream answers; undefined where its usage needs no correction. */
  readonly upstreamDialect: DialectId | undefined;
  readonly vendor: UpstreamVendor;
  /** Pinned at admission: a reload of the prices changes no call under way. */
  readonly priceBook: PriceBook;
  readonly keepsReply: boolean;
  readonly startedMs: number;
  /** What the call can have used at most. */
  readonly bound?: UsageBound | undefined;
  /** What is held for the call. */
  readonly credit?: CallCredit | undefined;
  /** Hears what the call used in the end. */
  readonly used?: ((usage: Usage) => void) | undefined;
  /** Hears of the entry, once it is in the books. */
  readonly report: Pick<CallReport, 'settled'>;
  /** What translating the reply left out or changed, known at its end. */
  readonly replyNotes: () => readonly TranslationNote[];
}): ExchangeObserver {
  const { opening, upstreamDialect, vendor, priceBook, bound, keepsReply } = options;
  const { journal, clock, replyOwners } = options.services;
  const { callId } = opening;
  let upstreamStatus: number | undefined;
  let upstreamRequestId: string | undefined;
  let firstByteMs: number | undefined;
  let left: { readonly departure: Departure; readonly afterMs: number } | undefined;
  const elapsedMs = (): number => Math.round(clock.monotonicMs() - options.startedMs);
  return {
    head: (status, requestId) => {
      upstreamStatus = status;
      upstreamRequestId = requestId;
      journal.head(callId, requestId === undefined ? { status } : { status, upstreamRequestId: requestId });
    },
    firstContent: () => {
      firstByteMs = elapsedMs();
    },
    progress: (report) => {
      const { usageReport, outputCharacters } = correctReport(report, vendor, upstreamDialect);
      // A process that dies leaves nobody who could dispute it.
      const isKept = usageReport !== undefined && bound?.isSuspicious(usageReport.usage, 0n) !== true;
      journal.progress(callId, isKept ? { usage: usageReport.usage, outputCharacters } : { outputCharacters });
    },
    meter: ({ report, ...ending }) => {
      const exact = report === undefined ? undefined : correctReport(report, vendor, upstreamDialect);
      const known = exact === undefined ? ending : { ...ending, report: exact };
      return describeMetered(meterAndRate(opening, known, priceBook, bound).metered);
    },
    left: (departure) => {
      left ??= { departure, afterMs: elapsedMs() };
    },
    settled: (told, then) => {
      const outcome = left === undefined ? told : endLeft(told);
      const { report } = outcome;
      const exact = report === undefined ? undefined : correctReport(report, vendor, upstreamDialect);
      const corrected = exact === report || exact === undefined ? outcome : { ...outcome, report: exact };
      const trace = { upstreamStatus, upstreamRequestId, firstByteMs, durationMs: elapsedMs() };
      const charged = settleCall(opening, corrected, trace, { priceBook, keepsReply, bound });
      const settled =
        left === undefined ? charged : { ...charged, disconnect: describeLeaving(left, reportsUsage(corrected), trace.durationMs) };
      const replyNotes = options.replyNotes();
      const entry = replyNotes.length === 0 ? settled : { ...settled, replyNotes };
      options.used?.(entry.usage);
      options.credit?.charge(entry);
      replyOwners.remember(entry);
      journal.done(entry, then);
      options.report.settled(entry, outcome.error);
    },
  };
}

/** What is charged, as a report to the client. */
function describeMetered({ usage, rawUsage, serviceTier, replyParameters }: MeteredCall): UsageReport {
  return {
    usage,
    raw: rawUsage,
    trustworthy: true,
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(replyParameters === undefined ? {} : { replyParameters }),
  };
}

/**
 * The same observer, which releases the limits and the hold of a call at its end, even if the books cannot be kept. If
 * the call fails, the gateway may write the reply itself; its headers then say where the caller stands.
 */
export function endWithCall(
  observer: ExchangeObserver,
  { taken, credit }: Pick<AttemptedCall, 'taken' | 'credit'>,
  sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>,
): ExchangeObserver {
  if (taken === undefined && credit === undefined) return observer;
  return {
    ...observer,
    settled: (outcome, then) => {
      try {
        if (outcome.error !== undefined && !sink.hasBegun)
          for (const name in taken?.headers) sink.setHeader(name, taken.headers[name] ?? '');
        observer.settled(outcome, then);
      } finally {
        taken?.reservation.finish();
        credit?.end();
      }
    },
  };
}
