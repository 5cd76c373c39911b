import { type AttemptReport, CallReport, type CallSink, type CallStart, type EndedCall, type StreamKind } from './call-report.ts';
import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import type { Clock } from '../../platform/clock.ts';
import type { UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { Logger } from '../../platform/log.ts';
import type { Histogram } from '../../platform/metrics/metric-registry.ts';
import type { CallMetrics } from './call-metrics.ts';
import { beginTrace, type Sampling } from './call-trace.ts';

/** Tells of calls: in the log, in metrics and in traces, whichever of them are wanted. */
export type Telemetry = {
  /** Begins to follow a call. Its report is told once, after its end. */
  readonly begin: (start: CallStart) => CallReport;
  /** An attempt is about to be sent: returns the request with what tells the upstream where it stands in the trace, where traces are kept. */
  readonly attempt: (report: AttemptReport, request: UpstreamRequest) => UpstreamRequest;
  /** Where the gaps between the pieces of a stream are counted, in seconds; undefined where nobody counts. */
  readonly chunkGaps: (stream: StreamKind) => Histogram | undefined;
  /** A request that never became a call was refused: no route, or no HTTP. */
  readonly malformed: (code: string) => void;
  /** A built-in tool was run. `outcome` is `ok`, or why it failed. */
  readonly toolRan: (tool: string, outcome: string, seconds: number) => void;
  /** A call came into the books that no client waits for: a video is over. Counted, once for each time that this is called. */
  readonly booked: (entry: CallEntry) => void;
  /** Tells what has ended and is not told yet. */
  readonly flush: () => void;
};

export type TelemetryOptions = {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
  readonly log?: CallSink | undefined;
  readonly metrics?: CallMetrics | undefined;
  readonly traces?: { readonly sink: CallSink; readonly sampling: Sampling } | undefined;
};

/**
 * Puts the sinks together. Calls are told at the end of the turn of the event loop in which they ended: their clients have their replies by then, and
 * the lines of a turn are written together.
 */
export function createTelemetry({ clock, logger, log, metrics, traces }: TelemetryOptions): Telemetry {
  const sinks: readonly CallSink[] = [log, metrics, traces?.sink].filter((sink) => sink !== undefined);
  let ended: EndedCall[] = [];
  let isScheduled = false;
  const flush = (): void => {
    isScheduled = false;
    if (ended.length === 0) return;
    const calls = ended;
    ended = [];
    for (const sink of sinks) {
      try {
        sink.callsEnded(calls);
      } catch (error) {
        // What is told of calls must never break one.
        logger.error({ err: error }, 'calls could not be reported: a defect');
      }
    }
  };
  const onEnded = (report: CallReport): void => {
    metrics?.left(report);
    ended.push({
      report,
      end: report.end(),
      status: report.response.headersSent ? report.response.statusCode : undefined,
      durationMs: report.entry?.durationMs ?? Math.round(clock.monotonicMs() - report.startedMs),
    });
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  };
  return {
    begin: (start) => {
      const trace = traces === undefined ? undefined : beginTrace(start.request.headers, traces.sampling);
      metrics?.came();
      return new CallReport(start, { acceptedAtMs: clock.nowMs(), startedMs: clock.monotonicMs(), trace }, onEnded);
    },
    attempt: (report, request) => {
      const nowMs = clock.monotonicMs();
      if (report.attemptStartedMs === undefined && report.facts?.stream === true) metrics?.streamBegan();
      report.attemptStartedMs = nowMs;
      const headers = report.trace?.beginAttempt(nowMs);
      return headers === undefined ? request : { ...request, headers: { ...request.headers, ...headers } };
    },
    chunkGaps: (stream) => metrics?.chunkGaps(stream),
    malformed: (code) => metrics?.malformed(code),
    toolRan: (tool, outcome, seconds) => metrics?.toolRan(tool, outcome, seconds),
    booked: (entry) => metrics?.booked(entry),
    flush,
  };
}
