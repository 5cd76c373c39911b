import { splitText, tokensOfLength } from '../../count-tokens.ts';
import type { Json, JsonRecord, ReplyPlan, SimulatedReply } from '../../simulated-vendor.ts';
import type { ChatFlavor } from './chat-flavor.ts';
import { fingerprintOf, finishReasonOf, writeChatLogprobs, writeChatUsage } from './write-chat.ts';

export type ChatStreamOptions = {
  readonly model: string;
  readonly flavor: ChatFlavor;
  readonly includesUsage: boolean;
  readonly includesObfuscation: boolean;
  readonly errorFrame: string;
  /** The citations of the text, sent after it. */
  readonly annotations?: readonly JsonRecord[];
  /** The number of alternatives for each token of the text. Absent: no log probabilities. */
  readonly topLogprobs?: number | undefined;
};

const obfuscationLetters = 'aB3dE5fG7hJ9kLmN';

/** The reply as chunks: role, content, finish reason, usage if requested, and the sentinel `[DONE]`. */
export function streamChat(plan: ReplyPlan, options: ChatStreamOptions): Extract<SimulatedReply, { type: 'stream' }> {
  const frames: string[] = [];
  const tokens: number[] = [];
  const head = writeHead(plan, options);
  const tail = options.includesUsage ? ',"usage":null' : '';
  const add = (delta: string, count: number, finishReason: string | null = null, said = ''): void => {
    const logprobs = JSON.stringify(writeChatLogprobs(said, options.topLogprobs));
    const choice = `{"index":0,"delta":${delta},"logprobs":${logprobs},"finish_reason":${JSON.stringify(finishReason)}}`;
    frames.push(`data: ${head},"choices":[${choice}]${tail}${obfuscate(plan, options, frames.length)}}\n\n`);
    tokens.push(count);
  };
  const hasText = plan.text !== undefined || (plan.toolCalls.length === 0 && plan.refusal === undefined);
  add(`{"role":"assistant","content":${hasText ? '""' : 'null'},"refusal":null}`, 0);
  if (plan.reasoning !== undefined && options.flavor.showsReasoning) {
    for (const piece of splitText(plan.reasoning.text, plan.tokensPerFrame))
      add(`{"reasoning_content":${JSON.stringify(piece.text)}}`, piece.tokens);
  }
  if (plan.unknownBlock === true) add('{"simulated_unknown_member":{"note":"nobody knows this"}}', 0);
  for (const piece of splitText(plan.text ?? '', plan.tokensPerFrame))
    add(`{"content":${JSON.stringify(piece.text)}}`, piece.tokens, null, piece.text);
  if (options.annotations !== undefined && options.annotations.length > 0) add(JSON.stringify({ annotations: options.annotations }), 0);
  for (const piece of splitText(plan.refusal ?? '', plan.tokensPerFrame)) add(`{"refusal":${JSON.stringify(piece.text)}}`, piece.tokens);
  for (const [index, call] of plan.toolCalls.entries()) addToolCall(add, plan, call, index);
  const firstContent = tokens.findIndex((count) => count > 0);
  const firstContentFrame = firstContent < 0 ? frames.length : firstContent;
  // Hidden reasoning precedes content, and takes its time: its tokens belong to the opening chunk, which is not
  // content.
  if (!options.flavor.showsReasoning) tokens[0] = plan.usage.reasoningTokens;
  add('{}', 0, finishReasonOf(plan));
  if (options.includesUsage) {
    frames.push(
      `data: ${head},"choices":[],"usage":${JSON.stringify(writeChatUsage(plan, options.model, options.flavor))}${obfuscate(plan, options, frames.length)}}\n\n`,
    );
    tokens.push(0);
  }
  frames.push('data: [DONE]\n\n');
  tokens.push(0);
  return {
    type: 'stream',
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    frames,
    frameTokens: tokens,
    firstContentFrame,
    errorFrame: options.errorFrame,
    unknownFrame: `data: ${head.replace('chat.completion.chunk', 'chat.completion.simulated_unknown')},"choices":[],"note":"nobody knows this"}\n\n`,
    plan,
  };
}

/** The members that every chunk begins with, without the closing brace. */
function writeHead(plan: ReplyPlan, { model, flavor }: ChatStreamOptions): string {
  const head: JsonRecord = {
    id: `chatcmpl-${plan.id}`,
    object: 'chat.completion.chunk',
    created: plan.createdAtSeconds,
    model,
    ...(flavor.name === 'openai' && { service_tier: 'default' }),
    system_fingerprint: fingerprintOf(flavor),
  };
  return JSON.stringify(head satisfies Json).slice(0, -1);
}

function addToolCall(
  add: (delta: string, count: number) => void,
  plan: ReplyPlan,
  call: ReplyPlan['toolCalls'][number],
  index: number,
): void {
  const start = { tool_calls: [{ index, id: `call_${call.id}`, type: 'function', function: { name: call.name, arguments: '' } }] };
  add(JSON.stringify(start), tokensOfLength(call.name.length));
  for (const piece of splitText(JSON.stringify(call.arguments), plan.tokensPerFrame, call.name.length)) {
    add(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece.text)}}}]}`, piece.tokens);
  }
}

function obfuscate(plan: ReplyPlan, { includesObfuscation }: ChatStreamOptions, position: number): string {
  if (!includesObfuscation) return '';
  const seed = plan.id.charCodeAt(position % plan.id.length) || 0;
  let text = '';
  for (let index = 0; index < (seed + position) % 12; index++)
    text += obfuscationLetters.charAt((seed * (index + 3) + position) % obfuscationLetters.length);
  return `,"obfuscation":"${text}"`;
}
