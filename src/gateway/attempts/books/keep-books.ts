import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { CallOpening } from '../../../billing/ledger/call-entry.ts';
import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import type { Departure } from '../disconnect/departure.ts';
import { describeLeaving, endLeft, reportsUsage } from '../disconnect/describe-leaving.ts';
import type { ExchangeObserver } from '../exchange/exchange-context.ts';
import type { AttemptServices } from '../services.ts';
import { correctReport, meterAndRate, settleCall, type UsageBound } from './settle.ts';
import type { CallReport } from '../../telemetry/call-report.ts';

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
