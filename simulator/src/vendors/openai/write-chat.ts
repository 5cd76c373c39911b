import { splitText } from '../../count-tokens.ts';
import type { JsonRecord, ReplyPlan } from '../../simulated-vendor.ts';
import type { ChatFlavor } from './chat-flavor.ts';

const finishReasons: Readonly<Record<ReplyPlan['stop'], string>> = {
  end: 'stop',
  'max-tokens': 'length',
  'stop-sequence': 'stop',
  'tool-use': 'tool_calls',
  refusal: 'stop',
  'content-filter': 'content_filter',
  pause: 'stop',
};

export function finishReasonOf(plan: ReplyPlan): string {
  return finishReasons[plan.stop];
}

/**
 * The simulated log probabilities of the text's tokens, if requested. The chosen token is the first of its
 * alternatives.
 */
export function writeChatLogprobs(text: string, top: number | undefined): JsonRecord | null {
  if (top === undefined || text === '') return null;
  const likely = (token: string, logprob: number): JsonRecord => ({ token, logprob, bytes: [...Buffer.from(token)] });
  const content = splitText(text, 1).map((piece, at) => {
    const logprob = -0.125 * (1 + (at % 4));
    const others = Array.from({ length: top }, (_, place) => likely(place === 0 ? piece.text : `~${place}`, logprob - place));
    return { ...likely(piece.text, logprob), top_logprobs: others };
  });
  return { content, refusal: null };
}

/** The whole reply to a chat completion. */
export function writeChat(
  plan: ReplyPlan,
  model: string,
  flavor: ChatFlavor,
  annotations: readonly JsonRecord[] = [],
  topLogprobs?: number,
): JsonRecord {
  return {
    id: `chatcmpl-${plan.id}`,
    object: 'chat.completion',
    created: plan.createdAtSeconds,
    model,
    choices: [
      {
        index: 0,
        message: writeMessage(plan, flavor, annotations),
        logprobs: writeChatLogprobs(plan.text ?? '', topLogprobs),
        finish_reason: finishReasonOf(plan),
      },
    ],
    usage: writeChatUsage(plan, model, flavor),
    ...(flavor.name === 'openai' && { service_tier: 'default' }),
    system_fingerprint: fingerprintOf(flavor),
  };
}

export function fingerprintOf(flavor: ChatFlavor): string | null {
  return flavor.name === 'xai' ? 'fp_simulated' : null;
}

function writeMessage(plan: ReplyPlan, flavor: ChatFlavor, annotations: readonly JsonRecord[]): JsonRecord {
  return {
    role: 'assistant',
    content: plan.text ?? (plan.toolCalls.length > 0 || plan.refusal !== undefined ? null : ''),
    ...(flavor.showsReasoning && plan.reasoning !== undefined && { reasoning_content: plan.reasoning.text }),
    ...(plan.toolCalls.length > 0 && {
      tool_calls: plan.toolCalls.map((call) => ({
        id: `call_${call.id}`,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.arguments) },
      })),
    }),
    refusal: plan.refusal ?? null,
    ...(flavor.name === 'openai' && { annotations: [...annotations] }),
    ...(plan.unknownBlock === true && { simulated_unknown_member: { note: 'nobody knows this' } }),
  };
}

/**
 * The usage object. All input counts as prompt; reasoning counts among the completion tokens or beside them, depending
 * on the vendor.
 */
export function writeChatUsage(plan: ReplyPlan, model: string, flavor: ChatFlavor): JsonRecord {
  const { usage } = plan;
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const completionTokens = flavor.showsReasoning ? usage.outputTokens - usage.reasoningTokens : usage.outputTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + usage.outputTokens,
    prompt_tokens_details: {
      ...(flavor.name === 'xai' && { text_tokens: promptTokens, image_tokens: 0 }),
      cached_tokens: usage.cacheReadTokens,
      audio_tokens: 0,
      ...(flavor.reportsCacheWrites(model) && { cache_write_tokens: usage.cacheWriteTokens }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    ...(flavor.name === 'xai' && { num_sources_used: 0 }),
  };
}
