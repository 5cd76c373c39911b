import { countToolCall } from '../../plan-reply.ts';
import { splitText, tokensOfLength } from '../../count-tokens.ts';
import type { JsonRecord, ReplyPlan, SimulatedReply } from '../../simulated-vendor.ts';
import {
  stopReasons,
  unknownBlock,
  visibleText,
  writeMessage,
  writeStopDetails,
  writeUsage,
  type MessageOptions,
} from './write-message.ts';

type StreamReply = Extract<SimulatedReply, { type: 'stream' }>;

/** Frames of a reply while they are being written. */
type Frames = {
  readonly frames: string[];
  readonly tokens: number[];
  readonly add: (name: string, json: string, tokens?: number) => void;
};

/**
 * The reply as this vendor streams it: named events, JSON padded with spaces, a ping after the first block has begun.
 */
export function streamMessage(plan: ReplyPlan, options: MessageOptions, errorFrame: string): StreamReply {
  const out = createFrames(plan.id);
  writeStart(out, plan, options);
  let index = 0;
  const startBlock = (block: JsonRecord, tokens = 0): void => {
    out.add('content_block_start', JSON.stringify({ type: 'content_block_start', index, content_block: block }), tokens);
    if (index === 0) pushPing(out);
  };
  const stopBlock = (): void => {
    out.add('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
    index += 1;
  };
  if (plan.reasoning !== undefined) {
    startBlock({ type: 'thinking', thinking: '', signature: '' });
    writeThinking(out, plan, options, index);
    stopBlock();
  }
  if (plan.unknownBlock === true) {
    startBlock({ ...unknownBlock });
    stopBlock();
  }
  const { search } = options;
  if (search !== undefined) {
    startBlock(search.use);
    addDelta(out, index, JSON.stringify({ type: 'input_json_delta', partial_json: JSON.stringify(search.input) }), 0);
    stopBlock();
    startBlock(search.result);
    stopBlock();
  }
  let writtenCharacters = 0;
  for (const text of search === undefined ? [visibleText(plan)] : [search.cited, search.rest]) {
    if (text === '') continue;
    const isCited = text === search?.cited;
    startBlock({ type: 'text', text: '', ...(isCited && { citations: [] }) });
    if (isCited) addDelta(out, index, JSON.stringify({ type: 'citations_delta', citation: search.citation }), 0);
    for (const piece of splitText(text, plan.tokensPerFrame, writtenCharacters))
      addDelta(out, index, `{"type":"text_delta","text":${JSON.stringify(piece.text)}}`, piece.tokens);
    writtenCharacters += text.length;
    stopBlock();
  }
  for (const call of plan.toolCalls) {
    const hasArguments = Object.keys(call.arguments).length > 0;
    const tokens = hasArguments ? tokensOfLength(call.name.length) : countToolCall(call);
    startBlock({ type: 'tool_use', id: `toolu_${call.id}`, name: call.name, input: {}, caller: { type: 'direct' } }, tokens);
    writeArguments(out, plan, call, index);
    stopBlock();
  }
  const firstContent = out.tokens.findIndex((tokens) => tokens > 0);
  const firstContentFrame = firstContent < 0 ? out.frames.length : firstContent;
  writeEnd(out, plan, options);
  return {
    type: 'stream',
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    frames: out.frames,
    frameTokens: out.tokens,
    firstContentFrame,
    errorFrame,
    plan,
  };
}

function createFrames(id: string): Frames {
  const frames: string[] = [];
  const tokens: number[] = [];
  const seed = (id.charCodeAt(0) || 0) + (id.charCodeAt(1) || 0);
  return {
    frames,
    tokens,
    add(name, json, count = 0) {
      // The vendor pads its JSON with a varying number of spaces, so readers must accept that.
      const padding = ' '.repeat((seed + frames.length * 7) % 17);
      frames.push(`event: ${name}\ndata: ${json}${padding}\n\n`);
      tokens.push(count);
    },
  };
}

function pushPing(out: Frames): void {
  out.frames.push('event: ping\ndata: {"type": "ping"}\n\n');
  out.tokens.push(0);
}

function addDelta(out: Frames, index: number, delta: string, tokens: number): void {
  out.add('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":${delta}}`, tokens);
}

function writeStart(out: Frames, plan: ReplyPlan, options: MessageOptions): void {
  const whole = writeMessage(plan, options);
  const usage = writeUsage(plan, Math.min(1, plan.usage.outputTokens), {});
  out.add(
    'message_start',
    JSON.stringify({
      type: 'message_start',
      message: { ...whole, content: [], stop_reason: null, stop_sequence: null, stop_details: null, usage },
    }),
  );
}

function writeThinking(out: Frames, plan: ReplyPlan, options: MessageOptions, index: number): void {
  const { reasoning, usage } = plan;
  if (reasoning === undefined) return;
  if (!options.omitsThinking) {
    for (const piece of splitText(reasoning.text, plan.tokensPerFrame)) {
      addDelta(out, index, `{"type":"thinking_delta","thinking":${JSON.stringify(piece.text)}}`, piece.tokens);
    }
  }
  const signed = `{"type":"signature_delta","signature":${JSON.stringify(reasoning.signature)}}`;
  addDelta(out, index, signed, options.omitsThinking ? usage.reasoningTokens : 0);
}

function writeArguments(out: Frames, plan: ReplyPlan, call: ReplyPlan['toolCalls'][number], index: number): void {
  addDelta(out, index, '{"type":"input_json_delta","partial_json":""}', 0);
  // A tool without arguments gets only the empty piece.
  if (Object.keys(call.arguments).length === 0) return;
  for (const piece of splitText(JSON.stringify(call.arguments), plan.tokensPerFrame, call.name.length)) {
    addDelta(out, index, `{"type":"input_json_delta","partial_json":${JSON.stringify(piece.text)}}`, piece.tokens);
  }
}

function writeEnd(out: Frames, plan: ReplyPlan, options: MessageOptions): void {
  const delta = {
    stop_reason: stopReasons[plan.stop],
    stop_sequence: plan.stopSequence ?? null,
    stop_details: writeStopDetails(plan),
    container: null,
  };
  const { service_tier: _tier, inference_geo: _geo, ...usage } = writeUsage(plan, plan.usage.outputTokens, options);
  out.add('message_delta', JSON.stringify({ type: 'message_delta', delta, usage }));
  out.add('message_stop', '{"type":"message_stop"}');
}
