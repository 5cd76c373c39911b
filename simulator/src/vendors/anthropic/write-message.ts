import type { JsonRecord, ReplyPlan } from '../../simulated-vendor.ts';
import { writeSearchBlocks, type WebSearch } from './web-search.ts';

export const stopReasons: Readonly<Record<ReplyPlan['stop'], string>> = {
  end: 'end_turn',
  'max-tokens': 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'tool-use': 'tool_use',
  refusal: 'refusal',
  'content-filter': 'refusal',
  pause: 'pause_turn',
};

/** Settings of a written reply besides its plan. */
export type MessageOptions = {
  readonly model: string;
  /** Thinking is on, but its text is omitted. */
  readonly omitsThinking: boolean;
  /** The search before the answer, if any. */
  readonly search?: WebSearch;
};

export const unknownBlock = { type: 'simulated_unknown_block', note: 'nobody knows this' } as const;

/** The message object of a whole reply. */
export function writeMessage(plan: ReplyPlan, options: MessageOptions): JsonRecord {
  return {
    id: `msg_${plan.id}`,
    type: 'message',
    role: 'assistant',
    model: options.model,
    content: writeContent(plan, options),
    stop_reason: stopReasons[plan.stop],
    stop_sequence: plan.stopSequence ?? null,
    stop_details: writeStopDetails(plan),
    container: null,
    usage: writeUsage(plan, plan.usage.outputTokens, options),
  };
}

function writeContent(plan: ReplyPlan, options: MessageOptions): JsonRecord[] {
  const content: JsonRecord[] = [];
  if (plan.reasoning !== undefined) {
    content.push({ type: 'thinking', thinking: options.omitsThinking ? '' : plan.reasoning.text, signature: plan.reasoning.signature });
  }
  if (plan.unknownBlock === true) content.push({ ...unknownBlock });
  const text = visibleText(plan);
  if (options.search !== undefined) content.push(...writeSearchBlocks(options.search));
  else if (text !== '') content.push({ type: 'text', text });
  for (const call of plan.toolCalls) {
    content.push({ type: 'tool_use', id: `toolu_${call.id}`, name: call.name, input: call.arguments, caller: { type: 'direct' } });
  }
  return content;
}

/** The visible text: the answer or the text of a refusal. */
export function visibleText(plan: ReplyPlan): string {
  return `${plan.text ?? ''}${plan.refusal ?? ''}`;
}

export function writeStopDetails(plan: ReplyPlan): JsonRecord | null {
  if (stopReasons[plan.stop] !== 'refusal') return null;
  return { type: 'refusal', category: null, explanation: plan.refusal ?? 'This is a simulated refusal by a content filter.' };
}

/**
 * The usage object with the output counted so far. Input excludes tokens that were read from or written to the cache.
 */
export function writeUsage(plan: ReplyPlan, outputTokens: number, options: Pick<MessageOptions, 'search'>): JsonRecord {
  const { usage } = plan;
  const isHour = usage.cacheLifetime === '1h';
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: isHour ? 0 : usage.cacheWriteTokens,
      ephemeral_1h_input_tokens: isHour ? usage.cacheWriteTokens : 0,
    },
    output_tokens: outputTokens,
    ...(plan.reasoning !== undefined &&
      outputTokens === usage.outputTokens && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
    ...(options.search !== undefined && { server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } }),
    service_tier: 'standard',
    inference_geo: 'global',
  };
}
