import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { readTraceContext, type TraceContext, writeTraceContext } from './trace-context.ts';

/** One attempt at an upstream, as a span of its own. */
type TracedAttempt = { readonly spanId: string; readonly startedMs: number };

/** The place of a call in a trace: its own span, and one for each attempt. */
export type CallTrace = {
  readonly context: TraceContext;
  /** The client's span; absent where the trace begins here. */
  readonly parentSpanId: string | undefined;
  readonly attempts: readonly TracedAttempt[];
  /** Begins an attempt's span and returns the headers that tell the upstream of it. */
  readonly beginAttempt: (nowMs: number) => Readonly<Record<string, string>>;
};

/** Which traces are kept: those that the caller keeps, where it says so and is listened to, and otherwise a share of those that begin here. */
export type Sampling = {
  readonly followsCaller: boolean;
  /** From 0 to 1. */
  readonly ratio: number;
};

const twoPow56 = 2 ** 56;

/** The last seven bytes of a trace id are random (W3C Trace Context, level 2): all who sample by them choose the same traces. */
function isChosen(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) < ratio * twoPow56;
}

const createSpanId = (): string => randomBytes(8).toString('hex');

/** Begins the span of a call, in the trace that its client is in where there is one. */
export function beginTrace(headers: IncomingHttpHeaders, sampling: Sampling): CallTrace {
  const parent = readTraceContext(headers['traceparent'] as string | undefined, headers['tracestate']);
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
  const sampled = parent !== undefined && sampling.followsCaller ? parent.sampled : isChosen(traceId, sampling.ratio);
  const { traceState } = parent ?? {};
  const state = traceState === undefined ? {} : { traceState };
  const attempts: TracedAttempt[] = [];
  return {
    context: { traceId, spanId: createSpanId(), sampled, ...state },
    parentSpanId: parent?.spanId,
    attempts,
    beginAttempt: (startedMs) => {
      const spanId = createSpanId();
      if (sampled) attempts.push({ spanId, startedMs });
      return writeTraceContext({ traceId, spanId, sampled, ...state });
    },
  };
}
