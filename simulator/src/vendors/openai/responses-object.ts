import { asText, isRecord } from '../../read-json.ts';
import type { Json, JsonRecord, ReplyPlan } from '../../simulated-vendor.ts';
import { openaiFlavor } from './chat-flavor.ts';
import { type CallableTool, callableTools, mayCallWebSearch, reasoningEffort } from './responses-plan-request.ts';
import type { ResponsesRequest } from './responses-request-schema.ts';
import { writeChatLogprobs } from './write-chat.ts';

const source = { url: 'https://simulated.example/weir', title: 'Simulated source' } as const;
const queryCharactersMax = 60;

/** Writes the finished response with all members that the vendor sends, null if absent. */
export function writeResponse(body: ResponsesRequest, plan: ReplyPlan, query: string): JsonRecord {
  const isIncomplete = plan.stop === 'max-tokens' || plan.stop === 'content-filter';
  const reason = plan.stop === 'max-tokens' ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${plan.id}`,
    object: 'response',
    created_at: plan.createdAtSeconds,
    status: isIncomplete ? 'incomplete' : 'completed',
    background: body.background ?? false,
    completed_at: isIncomplete ? null : plan.createdAtSeconds,
    error: null,
    incomplete_details: isIncomplete ? { reason } : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: body.model,
    output: writeOutput(body, plan, query),
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoningEffort(body) ?? null, summary: summaryStyle(body) ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: body.service_tier === 'auto' ? 'default' : (body.service_tier ?? 'default'),
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: echoFormat(body), verbosity: body.text?.verbosity ?? 'medium' },
    tool_choice: toJson(body.tool_choice ?? 'auto'),
    tools: (body.tools ?? []).map((tool) => echoTool(toJson(tool))),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    usage: writeUsage(plan, openaiFlavor.reportsCacheWrites(body.model)),
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  };
}

function writeUsage({ usage }: ReplyPlan, reportsCacheWrites: boolean): JsonRecord {
  const inputTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      ...(reportsCacheWrites && { cache_write_tokens: usage.cacheWriteTokens }),
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: inputTokens + usage.outputTokens,
  };
}

/** Imitates the vendor's encryption. */
const compactionPrefix = 'simulated-compaction.';

/** An item that replaces a conversation. */
export function writeCompaction(plan: ReplyPlan): JsonRecord {
  const sealed = compactionPrefix + Buffer.from(plan.text ?? '').toString('base64url');
  return { id: `cmp_${plan.id}00`, type: 'compaction', encrypted_content: sealed };
}

function writeOutput(body: ResponsesRequest, plan: ReplyPlan, query: string): JsonRecord[] {
  const trigger = Array.isArray(body.input) ? toJson(body.input.at(-1)) : undefined;
  if (isRecord(trigger) && trigger.type === 'compaction_trigger') return [writeCompaction(plan)];
  const items: JsonRecord[] = [];
  // Ids within a response differ by their last letters, like the vendor's.
  const id = (prefix: string): string => `${prefix}_${plan.id}${items.length.toString().padStart(2, '0')}`;
  if (plan.reasoning) items.push(writeReasoning(body, plan.reasoning, id('rs')));
  if (plan.unknownBlock) items.push({ id: id('sim'), type: 'simulated_unknown_item', status: 'completed' });
  const searches = mayCallWebSearch(body) && plan.toolCalls.length === 0 && Boolean(plan.text);
  if (searches) items.push(writeWebSearch(body, query, id('ws')));
  if (plan.text !== undefined || plan.refusal !== undefined) {
    const content: JsonRecord[] = [];
    if (plan.text !== undefined)
      content.push({
        type: 'output_text',
        annotations: searches ? [cite(plan.text)] : [],
        logprobs: writeLogprobs(body, plan.text),
        text: plan.text,
      });
    if (plan.refusal !== undefined) content.push({ type: 'refusal', refusal: plan.refusal });
    items.push({ id: id('msg'), type: 'message', status: 'completed', content, role: 'assistant' });
  }
  const tools = callableTools(body);
  for (const call of plan.toolCalls) items.push(writeCall(call, tools, id));
  const last = items.at(-1);
  const isCut = plan.stop === 'max-tokens' || plan.stop === 'content-filter';
  if (isCut && last?.status !== undefined) last.status = 'incomplete';
  return items;
}

function writeLogprobs({ include, top_logprobs: top }: ResponsesRequest, text: string): Json {
  if (include?.includes('message.output_text.logprobs') !== true) return [];
  return writeChatLogprobs(text, top ?? 0)?.content ?? [];
}

function writeReasoning(body: ResponsesRequest, reasoning: NonNullable<ReplyPlan['reasoning']>, id: string): JsonRecord {
  const isEncrypted = body.include?.includes('reasoning.encrypted_content') ?? false;
  return {
    id,
    type: 'reasoning',
    summary: summaryStyle(body) === undefined ? [] : [{ type: 'summary_text', text: reasoning.text }],
    ...(isEncrypted && { encrypted_content: reasoning.signature }),
  };
}

function summaryStyle(body: ResponsesRequest): string | undefined {
  return body.reasoning?.summary ?? body.reasoning?.generate_summary ?? undefined;
}

function writeWebSearch(body: ResponsesRequest, query: string, id: string): JsonRecord {
  const words = Array.from(query).slice(0, queryCharactersMax).join('');
  const withSources = body.include?.includes('web_search_call.action.sources') ?? false;
  return {
    id,
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: words, queries: [words], ...(withSources && { sources: [{ type: 'url', url: source.url }] }) },
  };
}

/** Cites the simulated source for the first sentence. The vendor counts characters, not UTF-16 code units. */
function cite(text: string): JsonRecord {
  const sentence = /^[^.!?]*[.!?]?/.exec(text)?.[0] ?? text;
  return { type: 'url_citation', start_index: 0, end_index: Array.from(sentence).length, title: source.title, url: source.url };
}

function writeCall(call: ReplyPlan['toolCalls'][number], tools: readonly CallableTool[], id: (prefix: string) => string): JsonRecord {
  const tool = tools.find((callable) => callable.planName === call.name);
  const names = {
    call_id: `call_${call.id}`,
    name: tool?.name ?? call.name,
    ...(tool?.namespace !== undefined && { namespace: tool.namespace }),
  };
  if (tool?.type === 'custom') {
    const input = call.arguments.input;
    return { id: id('ctc'), type: 'custom_tool_call', status: 'completed', input: typeof input === 'string' ? input : '', ...names };
  }
  return { id: id('fc'), type: 'function_call', status: 'completed', arguments: JSON.stringify(call.arguments), ...names };
}

function echoFormat(body: ResponsesRequest): JsonRecord {
  const format = body.text?.format ?? { type: 'text' };
  if (format.type !== 'json_schema') return { type: format.type };
  return {
    type: 'json_schema',
    description: format.description ?? null,
    name: format.name,
    schema: toJson(format.schema),
    strict: format.strict ?? false,
  };
}

/** The vendor answers with its defaults filled in. */
function echoTool(tool: Json): Json {
  if (!isRecord(tool)) return tool;
  switch (asText(tool.type)) {
    case 'function':
      return { ...tool, description: tool.description ?? null, parameters: tool.parameters ?? null, strict: tool.strict ?? true };
    case 'namespace':
      return { ...tool, tools: Array.isArray(tool.tools) ? tool.tools.map(echoTool) : [] };
    case 'file_search':
      return { filters: null, max_num_results: 20, ranking_options: { ranker: 'auto', score_threshold: 0 }, ...tool };
    default: {
      const isSearch = typeof tool.type === 'string' && tool.type.startsWith('web_search');
      return isSearch
        ? { ...tool, search_context_size: tool.search_context_size ?? 'medium', user_location: echoLocation(tool.user_location) }
        : tool;
    }
  }
}

function echoLocation(location: Json | undefined): JsonRecord {
  return { type: 'approximate', city: null, country: 'US', region: null, timezone: null, ...(isRecord(location) && location) };
}

/**
 * The content of a checked request came from JSON, so it is JSON; the checker's types cannot express that for open
 * members.
 */
function toJson(value: unknown): Json {
  return value as Json;
}
