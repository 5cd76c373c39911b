import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * The position of a span in a trace, as headers carry it: W3C Trace Context, level 1
 * (https://www.w3.org/TR/trace-context/).
 */
export type TraceContext = {
  /** 32 lower-case hexadecimal characters, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal characters, not all zero. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** Data that tracing systems on the way have added for themselves. */
  readonly traceState?: string;
};

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeroTrace = '0'.repeat(32);
const zeroSpan = '0'.repeat(16);

/** The specification requires carriers to accept this length. */
const traceStateCharactersMax = 512;
const printable = /^[\x20-\x7e\t]*$/;

/**
 * Reads the headers `traceparent` and `tracestate` of a request. Undefined without a valid context: then a trace begins
 * here.
 */
export function readTraceContext(parent: string | undefined, state: string | string[] | undefined): TraceContext | undefined {
  const match = parent === undefined ? undefined : pattern.exec(parent);
  if (match === undefined || match === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  // Version 00 ends after the flags, and later ones may continue. Version ff is invalid.
  if (version === 'ff' || (version === '00' && rest !== undefined) || traceId === zeroTrace || spanId === zeroSpan) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  const text = Array.isArray(state) ? state.join(',') : state;
  const isCarried = text !== undefined && text !== '' && text.length <= traceStateCharactersMax && printable.test(text);
  return { traceId, spanId, sampled, ...(isCarried ? { traceState: text } : {}) };
}

/** The headers that give an upstream its position in the trace. */
export function writeTraceContext({ traceId, spanId, sampled, traceState }: TraceContext): Readonly<Record<string, string>> {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
  return traceState === undefined ? { traceparent } : { traceparent, tracestate: traceState };
}

/** One attempt at an upstream, as a span of its own. */
type TracedAttempt = { readonly spanId: string; readonly startedMs: number };

/** The position of a call in a trace: its own span, and one for each attempt. */
export type CallTrace = {
  readonly context: TraceContext;
  /** The client's span. Absent if the trace begins here. */
  readonly parentSpanId: string | undefined;
  readonly attempts: readonly TracedAttempt[];
  /**
   * Begins an attempt's span.
   * @returns its headers for the upstream
   */
  readonly beginAttempt: (nowMs: number) => Readonly<Record<string, string>>;
};

/**
 * The sampled traces: those that the caller samples, if it is trusted, and otherwise a share of those that begin here.
 */
export type Sampling = {
  readonly followsCaller: boolean;
  /** From 0 to 1. */
  readonly ratio: number;
};

const twoPow56 = 2 ** 56;

/**
 * The last seven bytes of a trace id are random (W3C Trace Context, level 2). Everyone who samples by them selects the
 * same traces.
 */
function isChosen(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) < ratio * twoPow56;
}

const createSpanId = (): string => randomBytes(8).toString('hex');

/** Begins the span of a call, in the trace of its client if there is one. */
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
