import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { Proof } from '../../../inference/proof.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { decodeUsage, mergeUsage } from '../decode-usage.ts';
import { decodeCitation, decodeCitations } from './citations.ts';
import { identifyCall, writeArguments } from './decode-reply.ts';
import { decodeReasoning } from './decode-messages.ts';
import { readSignature } from './proof-fields.ts';
import { createServerToolPairing, isServerToolResult, isServerToolUse, type ServerToolPairing } from './server-tools.ts';
import { decodeEnding } from './stop-reasons.ts';

type OpenBlock =
  | {
      readonly kind: Exclude<BlockStart['kind'], 'server-tool'>;
      /** Its index among the neutral events. */
      readonly index: number;
      proof?: Proof | undefined;
      /** The input of a call at the start of its block. It applies if no deltas come. */
      input?: JsonValue | undefined;
      hasDeltas: boolean;
    }
  /** A use of a server tool, whose input is being collected. */
  | { readonly kind: 'server-tool'; readonly block: JsonObject; input: string };

type DecoderState = {
  readonly reading: ReplyReading;
  readonly pairing: ServerToolPairing;
  /** By the index in the stream. */
  readonly open: Map<number, OpenBlock>;
  nextIndex: number;
  hasStarted: boolean;
  hasToolCalls: boolean;
  rawUsage: JsonValue | undefined;
  usageTrustworthy: boolean;
  ending: JsonObject;
  /** After the last event, or an error: no event follows. */
  isOver: boolean;
};

/** Decodes a Messages stream. It repairs what imitating servers leave out or send twice, and ignores unknown events. */
export function createEventDecoder(reading: ReplyReading): EventDecoder {
  const state: DecoderState = {
    reading,
    pairing: createServerToolPairing(),
    open: new Map(),
    nextIndex: 0,
    hasStarted: false,
    hasToolCalls: false,
    rawUsage: undefined,
    usageTrustworthy: true,
    ending: {},
    isOver: false,
  };
  return {
    read: (frame) => {
      if (state.isOver || frame.data === '' || frame.event === 'ping') return [];
      // The tap counts malformed events.
      const event = frame.object();
      return event === undefined ? [] : readEvent(state, event, typeof event.type === 'string' ? event.type : (frame.event ?? ''));
    },
    end: () => [],
  };
}

function readEvent(state: DecoderState, event: JsonObject, type: string): readonly InferenceEvent[] {
  switch (type) {
    case 'message_start':
      return readStart(state, event.message);
    case 'content_block_start':
      return isJsonObject(event.content_block) ? startBlock(state, indexOf(event), event.content_block) : [];
    case 'content_block_delta':
      return isJsonObject(event.delta) ? readDelta(state, indexOf(event), event.delta) : [];
    case 'content_block_stop':
      return endBlock(state, indexOf(event));
    case 'message_delta':
      return readMessageDelta(state, event);
    case 'message_stop':
      return finish(state);
    default:
      if (type === 'error' || isJsonObject(event.error)) state.isOver = true;
      return [];
  }
}

const indexOf = ({ index }: JsonObject): number => (typeof index === 'number' ? index : 0);

function readStart(state: DecoderState, value: JsonValue | undefined): readonly InferenceEvent[] {
  const message = isJsonObject(value) ? value : {};
  return [...begin(state, message), ...readUsage(state, message.usage)];
}

function begin(state: DecoderState, { id, model }: JsonObject): readonly InferenceEvent[] {
  if (state.hasStarted) return [];
  state.hasStarted = true;
  return [
    {
      type: 'started',
      ...(typeof id === 'string' ? { replyId: id } : {}),
      ...(typeof model === 'string' ? { servedModel: model } : {}),
    },
  ];
}

function readUsage(state: DecoderState, raw: JsonValue | undefined): readonly InferenceEvent[] {
  const read = decodeUsage(raw);
  if (read === undefined) return [];
  if (!read.trustworthy) state.usageTrustworthy = false;
  state.rawUsage = mergeUsage(state.rawUsage, raw);
  const merged = decodeUsage(state.rawUsage);
  if (merged === undefined) return [];
  return [{ type: 'usage', usageReport: { ...merged, trustworthy: merged.trustworthy && state.usageTrustworthy } }];
}

function startBlock(state: DecoderState, at: number, block: JsonObject): readonly InferenceEvent[] {
  const before = [...begin(state, {}), ...endBlock(state, at)];
  switch (textOf(block.type) ?? '') {
    case 'text': {
      const index = state.nextIndex;
      const opened = openBlock(state, at, { kind: 'text' });
      const citations = decodeCitations(block.citations).map((citation): InferenceEvent => ({ type: 'citation', index, citation }));
      return [...before, ...opened, ...writeDelta(state, at, 'text', block.text), ...citations];
    }
    case 'thinking':
    case 'redacted_thinking': {
      const opened = openBlock(state, at, { kind: 'reasoning' }, decodeReasoning(block, state.reading.proofOrigin).proof);
      return [...before, ...opened, ...writeDelta(state, at, 'reasoning', block.thinking)];
    }
    case 'tool_use':
      state.hasToolCalls = true;
      return [...before, ...openBlock(state, at, { kind: 'tool-call', ...identifyCall(block, state.reading) }, undefined, block.input)];
    default:
      return [...before, ...startVendorBlock(state, at, block)];
  }
}

function startVendorBlock(state: DecoderState, at: number, block: JsonObject): readonly InferenceEvent[] {
  const type = textOf(block.type) ?? '';
  if (isServerToolUse(type)) state.open.set(at, { kind: 'server-tool', block, input: '' });
  if (!isServerToolResult(type)) return [];
  return [{ type: 'part', index: state.nextIndex++, part: state.pairing.finish(block) }];
}

function openBlock(
  state: DecoderState,
  at: number,
  block: Exclude<BlockStart, { kind: 'server-tool' }>,
  proof?: Proof,
  input?: JsonValue,
): readonly InferenceEvent[] {
  const index = state.nextIndex++;
  state.open.set(at, { kind: block.kind, index, proof, input, hasDeltas: false });
  return [{ type: 'block-started', index, block }];
}

function readDelta(state: DecoderState, at: number, delta: JsonObject): readonly InferenceEvent[] {
  const { text, thinking, partial_json: json, signature, citation } = delta;
  if (typeof text === 'string') return writeDelta(state, at, 'text', text);
  if (typeof thinking === 'string') return writeDelta(state, at, 'reasoning', thinking);
  if (typeof json === 'string') return readInputDelta(state, at, json);
  const block = state.open.get(at);
  if (block === undefined || block.kind === 'server-tool') return [];
  // The last one applies: the vendor sends one, others send it in every delta.
  if (typeof signature === 'string') block.proof = readSignature(signature, state.reading.proofOrigin) ?? block.proof;
  const cited = block.kind === 'text' ? decodeCitation(citation) : undefined;
  return cited === undefined ? [] : [{ type: 'citation', index: block.index, citation: cited }];
}

/** Adds text to a block. If the block is missing or has another kind, one is opened. */
function writeDelta(state: DecoderState, at: number, kind: 'text' | 'reasoning', text: unknown): readonly InferenceEvent[] {
  if (typeof text !== 'string' || text === '') return [];
  const open = state.open.get(at);
  if (open?.kind === kind) return [{ type: 'delta', index: open.index, text }];
  const before = [...begin(state, {}), ...endBlock(state, at)];
  const index = state.nextIndex;
  return [...before, ...openBlock(state, at, { kind }), { type: 'delta', index, text }];
}

function readInputDelta(state: DecoderState, at: number, json: string): readonly InferenceEvent[] {
  const block = state.open.get(at);
  if (block === undefined || json === '') return [];
  if (block.kind === 'server-tool') {
    block.input += json;
    return [];
  }
  if (block.kind !== 'tool-call') return [];
  block.hasDeltas = true;
  return [{ type: 'delta', index: block.index, text: json }];
}

function endBlock(state: DecoderState, at: number): readonly InferenceEvent[] {
  const block = state.open.get(at);
  if (block === undefined) return [];
  state.open.delete(at);
  if (block.kind === 'server-tool') {
    state.pairing.begin(withInput(block.block, block.input));
    return [];
  }
  const { index, kind, hasDeltas, input, proof } = block;
  const whole = kind === 'tool-call' && !hasDeltas ? writeArguments(input) : '';
  return [
    ...(whole === '' ? [] : [{ type: 'delta', index, text: whole } as const]),
    ...(proof === undefined ? [] : [{ type: 'proof', index, proof } as const]),
    { type: 'block-ended', index },
  ];
}

function withInput(block: JsonObject, input: string): JsonObject {
  const parsed = input === '' ? undefined : parseJsonObject(input);
  return parsed === undefined ? block : { ...block, input: parsed };
}

/** The vendor sends usage beside `delta`, the contract inside. */
function readMessageDelta(state: DecoderState, event: JsonObject): readonly InferenceEvent[] {
  const delta = isJsonObject(event.delta) ? event.delta : {};
  if (typeof delta.stop_reason === 'string') state.ending = delta;
  return [...begin(state, {}), ...readUsage(state, delta.usage), ...readUsage(state, event.usage)];
}

function finish(state: DecoderState): readonly InferenceEvent[] {
  state.isOver = true;
  const ended = [...state.open.keys()].flatMap((at) => endBlock(state, at));
  const unfinished = state.pairing.unfinished().map((part): InferenceEvent => ({ type: 'part', index: state.nextIndex++, part }));
  return [...begin(state, {}), ...ended, ...unfinished, { type: 'finished', ...decodeEnding(state.ending, state.hasToolCalls) }];
}
