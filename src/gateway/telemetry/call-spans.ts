import type { CallTags } from '../../accounts/call-tags.ts';
import { statisticsCounts } from '../../billing/ledger/call-entry.ts';
import { countInput } from '../../inference/meters.ts';
import type { EndedCall } from './call-report.ts';
import { operationNames, providerNames } from './metric-families.ts';

type AttributeValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly { readonly stringValue: string }[] } };

type Attribute = { readonly key: string; readonly value: AttributeValue };

/** A span as OTLP writes it in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly parentSpanId?: string;
  /** The trace flags, and that it is known whether the parent is remote. */
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
};

const kinds = { server: 2, client: 3 } as const;
const statusError = 2;
const flagSampled = 0x01;
const flagsParentKnown = 0x100;
const flagsParentRemote = 0x200;

/** Texts of clients are cut at this length. */
const textCharactersMax = 128;

type Value = string | number | boolean | readonly string[] | undefined;

function toValue(value: Exclude<Value, undefined>): AttributeValue {
  if (typeof value === 'string') return { stringValue: value.slice(0, textCharactersMax) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { intValue: String(Math.round(value)) };
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
}

function toAttributes(values: Readonly<Record<string, Value>>): readonly Attribute[] {
  return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]));
}

/** Unix milliseconds, with fractions, as whole nanoseconds. */
function toNanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`;
}

type Entry = NonNullable<EndedCall['report']['entry']>;

/** The usage attributes of both spans of a call. */
function usageValues({ usage, stopReason, servedModel }: Entry): Readonly<Record<string, Value>> {
  const { inputTokens, cacheReadTokens, outputTokens, reasoningTokens } = usage;
  const { cacheCreationTokens } = statisticsCounts(usage);
  return {
    'gen_ai.response.model': servedModel,
    'gen_ai.response.finish_reasons': stopReason === undefined ? undefined : [stopReason.slice(0, textCharactersMax)],
    // The conventions count cached input as input.
    'gen_ai.usage.input_tokens': inputTokens === undefined ? undefined : countInput(usage),
    'gen_ai.usage.cache_read.input_tokens': cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': cacheCreationTokens || undefined,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens,
  };
}

function tagValues(tags: CallTags | undefined): Readonly<Record<string, Value>> {
  return tags === undefined ? {} : Object.fromEntries(Object.entries(tags).map(([name, value]) => [`weir.tag.${name}`, value]));
}

function serverSpan(call: EndedCall, isListed: (model: string) => boolean): OtlpSpan | undefined {
  const { report, end, status, durationMs } = call;
  const { entry, error, trace, facts, dialect } = report;
  if (trace === undefined) return undefined;
  const { traceId, spanId, traceState } = trace.context;
  const operation = report.operation === 'count-tokens' ? 'count_tokens' : (operationNames[dialect] ?? 'chat');
  const requestedModel = entry?.requestedModel ?? facts?.requestedModel;
  const isWrong = end === 'failed' || end === 'cut' || (end === 'refused' && (error?.status ?? 0) >= 500);
  const code = error?.code ?? entry?.errorCode;
  return {
    traceId,
    spanId,
    ...(traceState === undefined ? {} : { traceState }),
    ...(trace.parentSpanId === undefined ? {} : { parentSpanId: trace.parentSpanId }),
    flags: flagSampled | flagsParentKnown | (trace.parentSpanId === undefined ? 0 : flagsParentRemote),
    // A name that any client can invent must not become the name of a span.
    name: requestedModel !== undefined && isListed(requestedModel) ? `${operation} ${requestedModel}` : operation,
    kind: kinds.server,
    startTimeUnixNano: toNanoseconds(report.acceptedAtMs),
    endTimeUnixNano: toNanoseconds(report.acceptedAtMs + durationMs),
    attributes: toAttributes({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': entry === undefined ? undefined : (providerNames[entry.vendor] ?? entry.vendor),
      'gen_ai.request.model': requestedModel,
      ...(entry === undefined ? {} : usageValues(entry)),
      'http.request.method': 'POST',
      'http.response.status_code': status,
      'error.type': code,
      'weir.call.id': report.callId,
      'weir.call.end': end,
      'weir.dialect': dialect,
      'weir.stream': entry?.stream ?? facts?.stream,
      'weir.upstream': entry?.upstream,
      'weir.cost.nano_usd': entry === undefined ? undefined : Number(entry.charge.amountNanoUsd),
      'weir.usage.estimated': entry?.estimated,
      'weir.first_byte_ms': entry?.firstByteMs,
      'weir.team': report.caller?.team?.name,
      ...tagValues(report.caller?.tags),
    }),
    status: isWrong ? { code: statusError, ...(code === undefined ? {} : { message: code }) } : {},
  };
}

/** The facts about one attempt, the last or an earlier one. */
type Attempt = {
  readonly upstream: string;
  readonly upstreamModel: string;
  readonly upstreamStatus?: number | undefined;
  readonly errorCode?: string | undefined;
  readonly durationMs: number;
};

function attemptSpans(call: EndedCall): readonly OtlpSpan[] {
  const { report, durationMs } = call;
  const { trace, entry, startedMs, acceptedAtMs } = report;
  if (trace === undefined || entry === undefined) return [];
  const failed: readonly Attempt[] = entry.failedAttempts ?? [];
  return trace.attempts.map(({ spanId, startedMs: sentMs }, index) => {
    const sinceAcceptanceMs = sentMs - startedMs;
    const attempt = failed[index] ?? { ...entry, durationMs: Math.max(0, durationMs - sinceAcceptanceMs) };
    const { upstream, upstreamModel, upstreamStatus, errorCode } = attempt;
    const isLast = index >= failed.length;
    const operation = operationNames[entry.translation?.upstreamDialect ?? entry.dialect] ?? 'chat';
    const { traceId, traceState, spanId: parentSpanId } = trace.context;
    return {
      traceId,
      spanId,
      ...(traceState === undefined ? {} : { traceState }),
      parentSpanId,
      flags: flagSampled | flagsParentKnown,
      name: `${operation} ${upstreamModel.slice(0, textCharactersMax)}`,
      kind: kinds.client,
      startTimeUnixNano: toNanoseconds(acceptedAtMs + sinceAcceptanceMs),
      endTimeUnixNano: toNanoseconds(acceptedAtMs + sinceAcceptanceMs + attempt.durationMs),
      attributes: toAttributes({
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': isLast ? (providerNames[entry.vendor] ?? entry.vendor) : undefined,
        'gen_ai.request.model': upstreamModel,
        ...(isLast ? usageValues(entry) : {}),
        'http.request.method': 'POST',
        'http.response.status_code': upstreamStatus,
        'error.type': errorCode,
        'weir.upstream': upstream,
        'weir.upstream.request_id': isLast ? entry.upstreamRequestId : undefined,
      }),
      status: errorCode === undefined ? {} : { code: statusError, message: errorCode },
    };
  });
}

/** The spans of an ended call: its own, and one for each attempt at an upstream. None if its trace is not sampled. */
export function createCallSpans(call: EndedCall, isListed: (model: string) => boolean): readonly OtlpSpan[] {
  if (call.report.trace?.context.sampled !== true) return [];
  const own = serverSpan(call, isListed);
  return own === undefined ? [] : [own, ...attemptSpans(call)];
}
