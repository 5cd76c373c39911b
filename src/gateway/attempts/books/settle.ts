import type { CallEnd, CallEntry, CallOpening, Charge, DisconnectEvidence } from '../../../billing/ledger/call-entry.ts';
import { type CallBound, disputeUsage, type RatedUsage } from '../../../billing/metering/dispute-usage.ts';
import { meterCall, type MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { PriceBook } from '../../../billing/rating/rating.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { UpstreamDialectId } from '../../../dialects/dialect-id.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { UpstreamVendor } from '../../../upstreams/upstream-vendor.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import type { ReplySink } from '../../replies/reply-sink.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { AttemptedCall } from '../call.ts';
import type { ClientDisconnect } from '../exchange/client-disconnect.ts';
import type { ExchangeObserver, MeteredEnding, Outcome } from '../exchange/exchange-context.ts';
import type { AttemptServices } from '../services.ts';

/** Facts about a call besides its outcome. */
export type CallTrace = {
  readonly upstreamStatus?: number | undefined;
  readonly upstreamRequestId?: string | undefined;
  readonly firstByteMs?: number | undefined;
  readonly durationMs: number;
};

/** A report with the vendor's differences in counting corrected. */
export function correctReport(report: ReplyReport, vendor: UpstreamVendor, dialect: UpstreamDialectId | undefined): ReplyReport {
  if (report.usageReport === undefined || dialect === undefined || vendor.correctUsage === undefined) return report;
  return { ...report, usageReport: vendor.correctUsage(report.usageReport, dialect) };
}

/** A call without an answer delivered nothing, even if its client disconnected first. */
function finalEnd(outcome: Outcome, trace: CallTrace): CallEnd {
  return trace.upstreamStatus === undefined ? 'failed' : outcome.end;
}

/** The highest usage of one call. It is computed only if the reported usage is suspicious. */
export type UsageBound = {
  /** Whether counts or their cost are higher than usual. Cheap, because it is checked for every call. */
  readonly isSuspicious: (usage: Usage, amountNanoUsd: bigint, report?: UsageReport) => boolean;
  readonly find: () => CallBound;
};

/** The bound of a call whose request is unknown: it can have used anything. */
const boundless: CallBound = { most: {}, nanoUsd: 2n ** 200n, provesCounts: false };

/** The usage and the charge of a call that ended this way: the same for its books and for its client. Pure. */
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
  const charge = rateUsage(opening, metered, priceBook);
  const isSuspicious = usageReport?.trustworthy === false || bound?.isSuspicious(metered.usage, charge.amountNanoUsd, usageReport) === true;
  const rated = { metered, charge };
  if (!isSuspicious || end === 'failed') return rated;
  const call = { report: usageReport, inputCharacters, outputCharacters };
  return disputeUsage(rated, call, bound?.find() ?? boundless, rateWith(opening, priceBook));
}

const rateWith =
  (opening: CallOpening, priceBook: PriceBook) =>
  (counted: MeteredCall): Charge =>
    rateUsage(opening, counted, priceBook);

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

/** Ids of vendors have about fifty characters. A longer one may be an attempt to fill an index. */
const replyIdCharactersMax = 256;

/** Makes the ledger row of a call: meters it, then rates it with the price book pinned at admission. Pure. */
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
  const { metered, charge } = meterAndRate(opening, end === outcome.end ? outcome : { ...outcome, end }, priceBook, bound);
  const { usage, estimated, rawUsage, serviceTier, replyParameters, disputed } = metered;
  // Built member by member: spreading optional members costs several times as much, and this runs for every call.
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

/** The outcome of a call whose client disconnected, however its upstream ended. A failed call is free all the same. */
function endDisconnected(outcome: Outcome): Outcome {
  const { error: _error, ...others } = outcome;
  return outcome.end === 'failed' ? outcome : { ...others, end: 'client-left' };
}

/** The evidence of a client's disconnect. Its upstream was stopped, or had ended, when the call was settled. */
function describeDisconnect(
  { disconnect, afterMs }: { readonly disconnect: ClientDisconnect; readonly afterMs: number },
  { complete, report }: Outcome,
  { durationMs }: CallTrace,
): DisconnectEvidence {
  const { policy, deliveredCharacters } = disconnect;
  const usageReported = complete && report?.usageReport !== undefined;
  return { policy, leftAfterMs: afterMs, deliveredCharacters, upstreamEndedAfterMs: durationMs, usageReported };
}

/** For operations that cost nothing: only their end is reported. */
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

/** What the books of an admitted call are kept with. */
type BooksOptions = {
  readonly services: Pick<AttemptServices, 'journal' | 'clock' | 'replyOwners'>;
  readonly opening: CallOpening;
  /** The dialect in which the upstream answers. Undefined if its usage needs no correction. */
  readonly upstreamDialect: UpstreamDialectId | undefined;
  readonly vendor: UpstreamVendor;
  /** Pinned at admission: a reload of the prices does not change running calls. */
  readonly priceBook: PriceBook;
  readonly keepsReply: boolean;
  readonly startedMs: number;
  /** The highest usage that the call can have. */
  readonly bound?: UsageBound | undefined;
  /** The hold of the call. */
  readonly credit?: CallCredit | undefined;
  /** Called with the final usage. */
  readonly used?: ((usage: Usage) => void) | undefined;
  /** Receives the entry when it is in the books. */
  readonly report: Pick<CallReport, 'settled'>;
  /** The notes of the reply's translation, complete at its end. */
  readonly replyNotes: () => readonly TranslationNote[];
};

/** Writes an admitted call's exchange into the books: HEAD and PROGRESS while it runs, the settled entry at its end. */
export function keepBooks(options: BooksOptions): ExchangeObserver {
  return new CallBooks(options);
}

/** The books of one call. Almost every call has some, so it has methods, and not closures of its own. */
class CallBooks implements ExchangeObserver {
  readonly #options: BooksOptions;
  /** A relay calls it by itself, so it is a function of its own. */
  readonly meter = ({ report, ...ending }: MeteredEnding): UsageReport => {
    const { opening, priceBook, bound } = this.#options;
    const corrected = report === undefined ? ending : { ...ending, report: this.#correct(report) };
    return describeMetered(meterAndRate(opening, corrected, priceBook, bound).metered);
  };
  #upstreamStatus: number | undefined;
  #upstreamRequestId: string | undefined;
  #firstByteMs: number | undefined;
  #left: { readonly disconnect: ClientDisconnect; readonly afterMs: number } | undefined;

  constructor(options: BooksOptions) {
    this.#options = options;
  }

  #elapsedMs(): number {
    const { services, startedMs } = this.#options;
    return Math.round(services.clock.monotonicMs() - startedMs);
  }

  #correct(report: ReplyReport): ReplyReport {
    const { vendor, upstreamDialect } = this.#options;
    return correctReport(report, vendor, upstreamDialect);
  }

  head(status: number, upstreamRequestId: string | undefined): void {
    const { services, opening } = this.#options;
    this.#upstreamStatus = status;
    this.#upstreamRequestId = upstreamRequestId;
    services.journal.head(opening.callId, upstreamRequestId === undefined ? { status } : { status, upstreamRequestId });
  }

  firstContent(): void {
    this.#firstByteMs = this.#elapsedMs();
  }

  progress(report: ReplyReport): void {
    const { services, opening, bound } = this.#options;
    const { usageReport, outputCharacters } = this.#correct(report);
    // After a crash nobody can dispute a count, so a suspicious one is not recorded.
    const isKept = usageReport !== undefined && bound?.isSuspicious(usageReport.usage, 0n) !== true;
    services.journal.progress(opening.callId, isKept ? { usage: usageReport.usage, outputCharacters } : { outputCharacters });
  }

  left(disconnect: ClientDisconnect): void {
    this.#left ??= { disconnect, afterMs: this.#elapsedMs() };
  }

  settled(ended: Outcome, then?: () => void): void {
    const { services, opening, priceBook, keepsReply, bound, used, credit, report } = this.#options;
    const left = this.#left;
    const outcome = left === undefined ? ended : endDisconnected(ended);
    const exact = outcome.report === undefined ? undefined : this.#correct(outcome.report);
    const corrected = exact === outcome.report || exact === undefined ? outcome : { ...outcome, report: exact };
    const trace = {
      upstreamStatus: this.#upstreamStatus,
      upstreamRequestId: this.#upstreamRequestId,
      firstByteMs: this.#firstByteMs,
      durationMs: this.#elapsedMs(),
    };
    const charged = settleCall(opening, corrected, trace, { priceBook, keepsReply, bound });
    const settled = left === undefined ? charged : { ...charged, disconnect: describeDisconnect(left, corrected, trace) };
    const replyNotes = this.#options.replyNotes();
    const entry = replyNotes.length === 0 ? settled : { ...settled, replyNotes };
    used?.(entry.usage);
    credit?.charge(entry);
    services.replyOwners.remember(entry);
    services.journal.done(entry, then);
    report.settled(entry, outcome.error);
  }
}

/** The charged usage as a report to the client. */
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
 * The same observer, which also releases the limits and the hold of a call at its end, even if the books cannot be
 * kept. If the call fails, the gateway may write the reply itself; its headers then show the caller's limits.
 */
export function endWithCall(
  observer: ExchangeObserver,
  limits: Pick<AttemptedCall, 'taken' | 'credit'>,
  sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>,
): ExchangeObserver {
  return limits.taken === undefined && limits.credit === undefined ? observer : new EndingObserver(observer, limits, sink);
}

/** Ends the limits and the hold of a call with its books. */
class EndingObserver implements ExchangeObserver {
  readonly meter: ExchangeObserver['meter'];
  readonly #observer: ExchangeObserver;
  readonly #limits: Pick<AttemptedCall, 'taken' | 'credit'>;
  readonly #sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>;

  constructor(
    observer: ExchangeObserver,
    limits: Pick<AttemptedCall, 'taken' | 'credit'>,
    sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>,
  ) {
    this.meter = observer.meter;
    this.#observer = observer;
    this.#limits = limits;
    this.#sink = sink;
  }

  head(status: number, upstreamRequestId: string | undefined): void {
    this.#observer.head(status, upstreamRequestId);
  }

  firstContent(): void {
    this.#observer.firstContent();
  }

  progress(report: ReplyReport): void {
    this.#observer.progress(report);
  }

  left(disconnect: ClientDisconnect): void {
    this.#observer.left?.(disconnect);
  }

  settled(outcome: Outcome, then?: () => void): void {
    const { taken, credit } = this.#limits;
    try {
      if (outcome.error !== undefined && !this.#sink.hasBegun)
        for (const name in taken?.headers) this.#sink.setHeader(name, taken.headers[name] ?? '');
      this.#observer.settled(outcome, then);
    } finally {
      taken?.reservation.finish();
      credit?.end();
    }
  }
}
