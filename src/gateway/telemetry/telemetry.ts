import {
  type AttemptReport,
  type CallRecorder,
  CallReport,
  type CallSink,
  type CallStart,
  type EndedCall,
  type StreamKind,
} from './call-report.ts';
import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import type { Clock } from '../../platform/clock.ts';
import type { UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { Logger } from '../../platform/log.ts';
import type { Histogram } from '../../platform/metrics/metric-registry.ts';
import type { CallMetrics } from './call-metrics.ts';
import { beginTrace, type Sampling } from './call-trace.ts';

/** Reports calls to the log, the metrics and the traces, as far as they are enabled. */
export type Telemetry = {
  /** Begins to follow a call, which is reported once after its end. */
  readonly begin: (start: CallStart) => CallReport;
  /**
   * An attempt is about to be sent.
   * @returns the request, with trace headers if traces are enabled
   */
  readonly attempt: (report: AttemptReport, request: UpstreamRequest) => UpstreamRequest;
  /** Counts the gaps between the pieces of a stream, in seconds. Undefined without metrics. */
  readonly chunkGaps: (stream: StreamKind) => Histogram | undefined;
  /** A request that never became a call was refused: it has no route, or is not HTTP. */
  readonly malformed: (code: string) => void;
  /** A built-in tool has run. `outcome` is `ok`, or the reason of its failure. */
  readonly toolRan: (tool: string, outcome: string, seconds: number) => void;
  /** A call without a waiting client is in the books: a video is over. Counted once for each call of this function. */
  readonly booked: (entry: CallEntry) => void;
  /** Reports the ended calls that were not reported yet. */
  readonly flush: () => void;
};

export type TelemetryOptions = {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
  readonly log?: CallSink | undefined;
  readonly metrics?: CallMetrics | undefined;
  readonly refusals?: CallSink | undefined;
  readonly traces?: { readonly sink: CallSink; readonly sampling: Sampling } | undefined;
};

/**
 * Connects the sinks. Calls are reported at the end of their last turn of the event loop: their clients have the
 * replies by then, and the lines of a turn are written together.
 */
export function createTelemetry({ clock, logger, log, metrics, refusals, traces }: TelemetryOptions): Telemetry {
  const sinks: readonly CallSink[] = [log, metrics, refusals, traces?.sink].filter((sink) => sink !== undefined);
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
        // A failed report must never break a call.
        logger.error({ err: error }, 'reporting ended calls failed');
      }
    }
    for (const call of calls) if (call.report.recorder !== undefined) record(call, call.report.recorder);
  };
  const record = (call: EndedCall, recorder: CallRecorder): void => {
    try {
      recorder.ended(call);
    } catch (error) {
      logger.error({ err: error }, 'recording an ended call failed');
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
      // Only what ends is counted. A call that the gateway makes for itself has no client, and its report never ends. A
      // background response may begin after its client has left, when its report has ended.
      const willEnd = report instanceof CallReport && !report.isReported;
      if (willEnd && report.attemptStartedMs === undefined && report.facts?.stream === true) metrics?.streamBegan();
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
