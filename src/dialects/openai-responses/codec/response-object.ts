import { readUsedTier } from '../../../inference/service-tier.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { encodeUsage } from './encode-usage.ts';
import type { ResponseEnding } from './stop-reasons.ts';

/** The vendor returns tools with its defaults. */
function echoTool(tool: JsonObject): JsonObject {
  if (tool.type === 'function') {
    return { ...tool, description: tool.description ?? null, parameters: tool.parameters ?? null, strict: tool.strict ?? true };
  }
  if (!textOf(tool.type)?.startsWith('web_search')) return tool;
  const location = isJsonObject(tool.user_location)
    ? { type: 'approximate', city: null, country: null, region: null, timezone: null, ...tool.user_location }
    : null;
  return { ...tool, search_context_size: tool.search_context_size ?? 'medium', user_location: location };
}

function echoFormat(value: JsonValue | undefined): JsonObject {
  const format = isJsonObject(value) ? value : { type: 'text' };
  return format.type === 'json_schema' ? { ...format, description: format.description ?? null, strict: format.strict ?? false } : format;
}

function echoConversation(value: JsonValue | undefined): JsonObject {
  const id = textOf(isJsonObject(value) ? value.id : value);
  return id === undefined ? {} : { conversation: { id } };
}

/** The request's fields in a response, with the vendor's defaults for absent ones. Equal in every snapshot. */
export function echoRequest({ request }: Pick<ReplyWriting, 'request'>): JsonObject {
  const text = membersOf(request.text);
  const reasoning = membersOf(request.reasoning);
  const conversation = filledText(request.conversation) ?? filledText(membersOf(request.conversation).id);
  return {
    background: request.background ?? false,
    ...(conversation === undefined ? {} : { conversation: { id: conversation } }),
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    ...echoConversation(request.conversation),
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? reasoning.generate_summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: echoFormat(text.format), verbosity: text.verbosity ?? 'medium' },
    tool_choice: request.tool_choice ?? 'auto',
    tools: objectsOf(request.tools).map(echoTool),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
}

const tierWords = ['default', 'flex', 'priority', 'scale'];

const wordByTier = { standard: 'default', flex: 'flex', priority: 'priority', scale: 'scale', batch: 'default' } as const;

/** The vendor's name of the service tier: the tier that the upstream reports, otherwise the requested one. */
function wordTier(requested: JsonValue | undefined, report: UsageReport | undefined): string {
  const used = readUsedTier(report?.serviceTier);
  if (used !== undefined) return wordByTier[used];
  const tier = textOf(requested);
  return tier !== undefined && tierWords.includes(tier) ? tier : 'default';
}

export type Snapshot = {
  readonly id: string;
  readonly model: string;
  readonly writing: Pick<ReplyWriting, 'request' | 'createdAtMs'>;
  readonly output: readonly JsonObject[];
  /** Absent while the response runs. */
  readonly end?: ResponseEnding;
  readonly usageReport?: UsageReport | undefined;
  /** The time of completion. Absent if it is not complete, or was cut. */
  readonly completedAtMs?: number | undefined;
};

/** The members of a response that change while it runs. */
export function describeProgress({ id, model, writing, output, end, usageReport, completedAtMs }: Snapshot): JsonObject {
  const requested = writing.request.service_tier;
  return {
    id,
    object: 'response',
    created_at: Math.floor(writing.createdAtMs / 1000),
    completed_at: completedAtMs === undefined ? null : Math.floor(completedAtMs / 1000),
    status: end?.status ?? 'in_progress',
    error: end?.error ?? null,
    incomplete_details: end?.incompleteReason === undefined ? null : { reason: end.incompleteReason },
    model,
    output,
    service_tier: end === undefined ? (requested ?? 'auto') : wordTier(requested, usageReport),
    usage: end === undefined || usageReport === undefined ? null : encodeUsage(usageReport.usage),
  };
}
