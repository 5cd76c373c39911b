import type { Counter, Histogram, MetricRegistry } from '../../platform/metrics/metric-registry.ts';
import { type CallEntry, type FailedAttempt, isUnpriced } from '../../billing/ledger/call-entry.ts';
import { countInput, findStandalone, meters, type TokenMeter, tokenMeters } from '../../inference/meters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { CallReport, CallSink, EndedCall, StreamKind } from './call-report.ts';
import { createMetricFamilies, operationNames, type MetricFamilies, providerNames } from './metric-families.ts';

export type CallMetrics = CallSink & {
  readonly came: () => void;
  readonly left: (report: CallReport) => void;
  readonly streamBegan: () => void;
  readonly chunkGaps: (stream: StreamKind) => Histogram;
  readonly malformed: (code: string) => void;
  readonly toolRan: (tool: string, outcome: string, seconds: number) => void;
  readonly booked: (entry: CallEntry) => void;
};

/** All series of calls of one dialect, upstream and model, looked up once. */
class CallSeries {
  readonly #families: MetricFamilies;
  readonly #labels: readonly string[];
  readonly #ends = new Map<string, Counter>();
  readonly #durations = new Map<string, { readonly server: Histogram; readonly client: Histogram }>();
  readonly timeToFirstToken: Histogram;
  readonly timePerOutputToken: Histogram;
  readonly chunkGaps: Histogram;
  readonly inputTokens: Histogram;
  readonly outputTokens: Histogram;
  readonly tokens: readonly (readonly [meter: TokenMeter, counter: Counter])[];
  readonly cost: Counter;
  readonly estimated: Counter;
  readonly disputed: Counter;
  readonly unpriced: Counter;

  /** @param labels operation, provider, model, dialect, upstream */
  constructor(families: MetricFamilies, labels: readonly [string, string, string, string, string]) {
    const [, , model, dialect, upstream] = labels;
    this.#families = families;
    this.#labels = labels;
    this.timeToFirstToken = families.timeToFirstToken.with(...labels);
    this.timePerOutputToken = families.timePerOutputToken.with(...labels);
    this.chunkGaps = families.chunkGaps.with(...labels);
    this.inputTokens = families.tokenUsage.with(...labels, 'input');
    this.outputTokens = families.tokenUsage.with(...labels, 'output');
    this.tokens = tokenMeters.flatMap((meter) => {
      const { metric } = meters[meter];
      return metric === undefined ? [] : [[meter, families.tokens.with(dialect, upstream, model, metric)] as const];
    });
    this.cost = families.cost.with(dialect, upstream, model);
    this.estimated = families.estimated.with(dialect, upstream, model);
    this.disputed = families.disputed.with(dialect, upstream, model);
    this.unpriced = families.unpriced.with(dialect, upstream, model);
  }

  calls(end: string, status: string): Counter {
    const key = end + status;
    let counter = this.#ends.get(key);
    if (counter === undefined) {
      const [, , model, dialect, upstream] = this.#labels;
      counter = this.#families.calls.with(dialect ?? '', upstream ?? '', model ?? '', end, status);
      this.#ends.set(key, counter);
    }
    return counter;
  }

  /** @param errorType empty if there was no error */
  durations(errorType: string): { readonly server: Histogram; readonly client: Histogram } {
    let durations = this.#durations.get(errorType);
    if (durations === undefined) {
      const { serverDuration, clientDuration } = this.#families;
      durations = { server: serverDuration.with(...this.#labels, errorType), client: clientDuration.with(...this.#labels, errorType) };
      this.#durations.set(errorType, durations);
    }
    return durations;
  }
}

const statusClasses: readonly string[] = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'];

const statusClass = (status: number | undefined): string =>
  status === undefined ? 'none' : (statusClasses[Math.floor(status / 100)] ?? 'none');

const otherModel = 'other';

class CallCounter implements CallMetrics {
  readonly #families: MetricFamilies;
  readonly #isListed: (model: string) => boolean;
  readonly #monotonicMs: () => number;
  /** By upstream, dialect and model. */
  readonly #series = new Map<string, Map<string, Map<string, CallSeries>>>();
  readonly #attempts = new Map<string, Map<string, Counter>>();
  #inFlight = 0;
  #streamsInFlight = 0;

  constructor(registry: MetricRegistry, isListed: (model: string) => boolean, monotonicMs: () => number) {
    this.#families = createMetricFamilies(registry, { calls: () => this.#inFlight, streams: () => this.#streamsInFlight });
    this.#isListed = isListed;
    this.#monotonicMs = monotonicMs;
  }

  came(): void {
    this.#inFlight += 1;
  }

  left(report: CallReport): void {
    this.#inFlight -= 1;
    if (report.facts?.stream === true && report.attemptStartedMs !== undefined) this.#streamsInFlight -= 1;
  }

  streamBegan(): void {
    this.#streamsInFlight += 1;
  }

  toolRan(tool: string, outcome: string, seconds: number): void {
    this.#families.toolRuns.with(tool, outcome).observe(seconds);
  }

  booked(entry: CallEntry): void {
    this.#countEntry(entry, undefined);
  }

  malformed(code: string): void {
    this.#families.refusals.with('', code).add(1);
  }

  chunkGaps(stream: StreamKind): Histogram {
    return this.#seriesOf(stream).chunkGaps;
  }

  callsEnded(calls: readonly EndedCall[]): void {
    const nowMs = this.#monotonicMs();
    for (const call of calls) this.#count(call, nowMs);
  }

  #count(call: EndedCall, nowMs: number): void {
    const { report, end } = call;
    if (report.queueMs !== undefined) this.#families.queueWait.with().observe(report.queueMs / 1000);
    if (report.entry !== undefined) return this.#countBooked(call, report.entry, nowMs);
    if (end === 'refused' && report.error !== undefined) return this.#countRefusal(report, report.error);
    this.#families.unbooked.with(report.dialect, end).add(1);
  }

  #countRefusal({ dialect }: CallReport, { code, exceededLimit }: NonNullable<CallReport['error']>): void {
    this.#families.refusals.with(dialect, code).add(1);
    if (exceededLimit !== undefined) this.#families.limitRefusals.with(exceededLimit.scope, exceededLimit.of).add(1);
  }

  #countBooked({ status, report }: EndedCall, entry: CallEntry, nowMs: number): void {
    const durations = this.#countEntry(entry, status);
    const { attemptStartedMs, startedMs } = report;
    // The client may have read on after the exchange. The duration of the attempt follows from its start and the end of
    // the call.
    if (attemptStartedMs !== undefined)
      durations.client.observe(Math.max(0, Math.min(nowMs, startedMs + entry.durationMs) - attemptStartedMs) / 1000);
  }

  /** @param status the status that the client received, if one was sent */
  #countEntry(entry: CallEntry, status: number | undefined): { readonly client: Histogram } {
    const series = this.#seriesOf(entry);
    series.calls(entry.end, statusClass(status)).add(1);
    const durations = series.durations(entry.errorCode ?? '');
    durations.server.observe(entry.durationMs / 1000);
    this.#countAttempts(entry);
    this.#countUsage(series, entry);
    if (entry.translation !== undefined) this.#countNotes(entry, entry.translation);
    return durations;
  }

  #countUsage(series: CallSeries, entry: CallEntry): void {
    const { usage, charge, firstByteMs, durationMs } = entry;
    const { outputTokens = 0 } = usage;
    for (const [meter, counter] of series.tokens) {
      const count = usage[meter] ?? 0;
      if (count > 0) counter.add(count);
    }
    if (charge.amountNanoUsd !== 0n) series.cost.add(Number(charge.amountNanoUsd));
    if (entry.estimated) series.estimated.add(1);
    if (entry.disputed !== undefined) series.disputed.add(1);
    if (isUnpriced(entry)) series.unpriced.add(1);
    if (entry.end === 'failed' || hasOtherUnit(usage)) return;
    series.inputTokens.observe(countInput(usage));
    series.outputTokens.observe(outputTokens);
    if (!entry.stream || firstByteMs === undefined) return;
    series.timeToFirstToken.observe(firstByteMs / 1000);
    if (entry.end === 'finished' && outputTokens > 1)
      series.timePerOutputToken.observe((durationMs - firstByteMs) / 1000 / (outputTokens - 1));
  }

  #countAttempts(entry: CallEntry): void {
    for (const failed of entry.failedAttempts ?? []) {
      this.#attempt(failed.upstream, attemptResult(failed)).add(1);
      this.#families.retries.with(failed.upstream, attemptResult(failed)).add(1);
    }
    this.#attempt(entry.upstream, attemptResult(entry)).add(1);
  }

  #attempt(upstream: string, result: string): Counter {
    return this.#attempts
      .getOrInsertComputed(upstream, () => new Map<string, Counter>())
      .getOrInsertComputed(result, () => this.#families.attempts.with(upstream, result));
  }

  #countNotes(
    entry: CallEntry,
    translation: { readonly upstreamDialect: string; readonly notes: readonly { readonly kind: string }[] },
  ): void {
    const { upstreamDialect, notes } = translation;
    this.#families.translations.with(entry.dialect, upstreamDialect).add(1);
    for (const { kind } of [...notes, ...(entry.replyNotes ?? [])]) this.#families.notes.with(entry.dialect, upstreamDialect, kind).add(1);
  }

  #seriesOf({ dialect, upstream, vendor, requestedModel }: StreamKind): CallSeries {
    const byDialect = this.#series.getOrInsertComputed(upstream, () => new Map<string, Map<string, CallSeries>>());
    const byModel = byDialect.getOrInsertComputed(dialect, () => new Map<string, CallSeries>());
    const existing = byModel.get(requestedModel);
    if (existing !== undefined) return existing;
    // Only names from the operator, a price book or an upstream become labels.
    const listed = requestedModel.startsWith('models/') ? requestedModel.slice('models/'.length) : requestedModel;
    const model = this.#isListed(listed) ? listed : otherModel;
    return byModel.getOrInsertComputed(model, () => {
      const operation = operationNames[dialect] ?? 'chat';
      return new CallSeries(this.#families, [operation, providerNames[vendor] ?? vendor, model, dialect, upstream]);
    });
  }
}

/**
 * Whether the usage is not in tokens, but in characters, audio, video or images. Otherwise it would look like a call
 * with no tokens.
 */
function hasOtherUnit(usage: Usage): boolean {
  return usage.inputTokens === undefined && usage.outputTokens === undefined && findStandalone(usage) !== undefined;
}

/** The result of an attempt as a label: an error's code, or the class of the status. */
function attemptResult({ errorCode, upstreamStatus }: Pick<FailedAttempt, 'upstreamStatus'> & { readonly errorCode?: string }): string {
  if (upstreamStatus === 429) return '429';
  if (upstreamStatus !== undefined && upstreamStatus >= 400) return statusClass(upstreamStatus);
  return errorCode ?? statusClass(upstreamStatus);
}

/**
 * Counts calls in a registry. Three look-ups find the series of a call; counting is arithmetic.
 * @param options.isListed whether a model's name may be a label, which a name of a client's choice may not
 */
export function createCallMetrics(options: {
  readonly registry: MetricRegistry;
  readonly isListed: (model: string) => boolean;
  readonly monotonicMs: () => number;
}): CallMetrics {
  return new CallCounter(options.registry, options.isListed, options.monotonicMs);
}
