import { splitText } from '../../../count-tokens.ts';
import type { JsonRecord, ReplyPlan } from '../../../simulated-vendor.ts';
import type { Intervention } from '../guardrail.ts';

const stopReasons: Readonly<Record<ReplyPlan['stop'], string>> = {
  end: 'end_turn',
  'max-tokens': 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'tool-use': 'tool_use',
  refusal: 'content_filtered',
  'content-filter': 'content_filtered',
  pause: 'end_turn',
};

/** One block of a reply. */
type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string; readonly signature: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: JsonRecord };

/** A reply that is ready to be written, whole or as a stream. */
export type ConverseReply = {
  readonly blocks: readonly Block[];
  readonly stopReason: string;
  /** Undefined if the reply reports none. */
  readonly usage: JsonRecord | undefined;
  readonly trace: JsonRecord | undefined;
  readonly tokensPerFrame: number;
};

export function planConverse(plan: ReplyPlan, intervention: Intervention | undefined): ConverseReply & { readonly usage: JsonRecord } {
  const said = plan.refusal ?? plan.text;
  const common = { tokensPerFrame: plan.tokensPerFrame ?? 4, usage: usageOf(plan), trace: intervention?.trace };
  if (intervention !== undefined) {
    const usage = intervention.refusesPrompt ? { inputTokens: 0, outputTokens: 0, totalTokens: 0 } : common.usage;
    return { ...common, usage, blocks: [{ kind: 'text', text: intervention.text }], stopReason: 'guardrail_intervened' };
  }
  const blocks: Block[] = [];
  if (plan.reasoning !== undefined) blocks.push({ kind: 'reasoning', ...plan.reasoning });
  if (said !== undefined && said !== '') blocks.push({ kind: 'text', text: said });
  for (const { id, name, arguments: input } of plan.toolCalls) blocks.push({ kind: 'call', id: `tooluse_${id.slice(0, 22)}`, name, input });
  return { ...common, blocks, stopReason: stopReasons[plan.stop] };
}

function usageOf({ usage }: ReplyPlan): JsonRecord {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
    cacheReadInputTokens: cacheReadTokens,
    cacheWriteInputTokens: cacheWriteTokens,
    ...(cacheWriteTokens > 0 && { cacheDetails: [{ ttl: '5m', inputTokens: cacheWriteTokens }] }),
  };
}

const metrics = { latencyMs: 421 };

/** A whole reply. */
export function writeConverse(reply: ConverseReply): JsonRecord {
  const content = reply.blocks.map((block): JsonRecord => {
    if (block.kind === 'text') return { text: block.text };
    if (block.kind === 'reasoning') return { reasoningContent: { reasoningText: { text: block.text, signature: block.signature } } };
    return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
  });
  return {
    metrics,
    output: { message: { content, role: 'assistant' } },
    stopReason: reply.stopReason,
    usage: reply.usage,
    ...(reply.trace === undefined ? {} : { trace: reply.trace }),
  };
}

/** The events of a stream. */
export function* streamConverse(reply: ConverseReply): Generator<readonly [type: string, payload: JsonRecord]> {
  yield ['messageStart', { role: 'assistant' }];
  for (const [contentBlockIndex, block] of reply.blocks.entries()) {
    if (block.kind === 'call')
      yield ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: block.id, name: block.name } } }];
    for (const delta of deltasOf(block, reply)) yield ['contentBlockDelta', { contentBlockIndex, delta }];
    yield ['contentBlockStop', { contentBlockIndex }];
  }
  yield ['messageStop', { stopReason: reply.stopReason }];
  yield ['metadata', { usage: reply.usage, metrics, ...(reply.trace === undefined ? {} : { trace: reply.trace }) }];
}

function deltasOf(block: Block, { tokensPerFrame, stopReason }: ConverseReply): readonly JsonRecord[] {
  // A guardrail answers in one piece.
  const cut = (text: string): readonly string[] =>
    stopReason === 'guardrail_intervened' ? [text] : splitText(text, tokensPerFrame).map((piece) => piece.text);
  switch (block.kind) {
    case 'text':
      return cut(block.text).map((text) => ({ text }));
    case 'reasoning':
      return [...cut(block.text).map((text) => ({ reasoningContent: { text } })), { reasoningContent: { signature: block.signature } }];
    case 'call':
      return ['', ...cut(JSON.stringify(block.input))].map((input) => ({ toolUse: { input } }));
  }
}
