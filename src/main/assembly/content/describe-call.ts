import type { ApiKey } from '../../../accounts/api-key.ts';
import { statisticsCounts } from '../../../billing/ledger/call-entry.ts';
import type { RecordedFacts, RecordedUsage } from '../../../content/records/recorded-call.ts';
import type { EndedCall } from '../../../gateway/telemetry/call-report.ts';
import { operationNames, providerNames } from '../../../gateway/telemetry/metric-families.ts';
import { countInput } from '../../../inference/meters.ts';

type Entry = NonNullable<EndedCall['report']['entry']>;

/** The facts of a recorded call. Undefined if nothing was sent: a refused prompt is not recorded. */
export function describeCall({ report, end, status, durationMs }: EndedCall, caller: ApiKey): RecordedFacts | undefined {
  const { entry, trace, error, dialect, acceptedAtMs } = report;
  if (entry === undefined) return undefined;
  const code = error?.code ?? entry.errorCode;
  // The tags of the request are added after the key was found.
  const tags = report.caller?.tags;
  return {
    id: report.callId,
    atMs: acceptedAtMs,
    durationMs,
    userId: caller.userId,
    user: caller.userName,
    keyId: caller.id,
    key: caller.name,
    ...(caller.team === undefined ? {} : { team: caller.team.name }),
    ...(tags === undefined ? {} : { tags }),
    interface: dialect,
    operation: operationNames[dialect] ?? 'chat',
    provider: providerNames[entry.vendor] ?? entry.vendor,
    upstream: entry.upstream,
    requestedModel: entry.requestedModel,
    ...(entry.servedModel === undefined ? {} : { servedModel: entry.servedModel }),
    end,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { error: code }),
    stream: entry.stream,
    usage: usageOf(entry),
    ...(trace === undefined ? {} : { traceId: trace.context.traceId, spanId: trace.context.spanId }),
  };
}

function usageOf({ usage }: Entry): RecordedUsage {
  const { inputTokens, cacheReadTokens, outputTokens, reasoningTokens } = usage;
  const counts = {
    'gen_ai.usage.input_tokens': inputTokens === undefined ? undefined : countInput(usage),
    'gen_ai.usage.cache_read.input_tokens': cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': statisticsCounts(usage).cacheCreationTokens || undefined,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens,
  };
  return Object.fromEntries(Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[name, count] as const])));
}
