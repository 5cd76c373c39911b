import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { Proof } from '../../../inference/proof.ts';
import { filledText, membersOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { failureIn } from '../create-stream-tap.ts';
import { decodeUsage } from '../decode-usage.ts';
import { identifyCall, signedBy } from './decode-reply.ts';
import { decodeEnding } from './stop-reasons.ts';

type OpenBlock = {
  readonly kind: 'text' | 'reasoning' | 'tool-call';
  /** Its index among the neutral events. */
  readonly index: number;
  proof?: Proof | undefined;
  hasDeltas: boolean;
};

type DecoderState = {
  readonly reading: ReplyReading;
  /** By the index in the stream. */
  readonly open: Map<number, OpenBlock>;
  nextIndex: number;
  hasStarted: boolean;
  hasToolCalls: boolean;
  stopReason: string | undefined;
  /** After the end, or an error: no event follows. */
  isOver: boolean;
};

/** Decodes a stream of ConverseStream. The usage comes after the end of the message, so `finished` comes from `end`. */
export function createEventDecoder(reading: ReplyReading): EventDecoder {
  const state: DecoderState = {
    reading,
    open: new Map(),
    nextIndex: 0,
    hasStarted: false,
    hasToolCalls: false,
    stopReason: undefined,
    isOver: false,
  };
  return {
    read: (frame) => {
      const { event = '' } = frame;
      if (state.isOver || failureIn(event) !== undefined) {
        state.isOver = true;
        return [];
      }
      // The tap counts malformed events.
      const payload = frame.object();
      return payload === undefined ? [] : readEvent(state, event, payload);
    },
    end: () => (state.isOver ? [] : finish(state)),
  };
}

function readEvent(state: DecoderState, event: string, payload: JsonObject): readonly InferenceEvent[] {
  switch (event) {
    case 'messageStart':
      return begin(state);
    case 'contentBlockStart':
      return startBlock(state, indexOf(payload), membersOf(payload.start));
    case 'contentBlockDelta':
      return readDelta(state, indexOf(payload), membersOf(payload.delta));
    case 'contentBlockStop':
      return endBlock(state, indexOf(payload));
    case 'messageStop':
      state.stopReason = textOf(payload.stopReason) ?? 'end_turn';
      return [];
    case 'metadata': {
      const usageReport = decodeUsage(payload.usage, payload.serviceTier);
      return usageReport === undefined ? [] : [...begin(state), { type: 'usage', usageReport }];
    }
    default:
      return [];
  }
}

const indexOf = ({ contentBlockIndex }: JsonObject): number => (typeof contentBlockIndex === 'number' ? contentBlockIndex : 0);

function begin(state: DecoderState): readonly InferenceEvent[] {
  if (state.hasStarted) return [];
  state.hasStarted = true;
  return [{ type: 'started' }];
}

/** Only calls have a start. Other blocks begin with their first delta. */
function startBlock(state: DecoderState, at: number, { toolUse }: JsonObject): readonly InferenceEvent[] {
  if (!isJsonObject(toolUse)) return [];
  state.hasToolCalls = true;
  const before = [...begin(state), ...endBlock(state, at)];
  return [...before, ...openBlock(state, at, { kind: 'tool-call', ...identifyCall(toolUse, state.reading) })];
}

function openBlock(
  state: DecoderState,
  at: number,
  block: Extract<BlockStart, { readonly kind: OpenBlock['kind'] }> | { readonly kind: 'text' },
): readonly InferenceEvent[] {
  const index = state.nextIndex++;
  state.open.set(at, { kind: block.kind, index, hasDeltas: false });
  return [{ type: 'block-started', index, block }];
}

function readDelta(state: DecoderState, at: number, { text, toolUse, reasoningContent }: JsonObject): readonly InferenceEvent[] {
  if (typeof text === 'string') return writeDelta(state, at, 'text', text);
  if (isJsonObject(toolUse)) return readInput(state, at, textOf(toolUse.input) ?? '');
  return isJsonObject(reasoningContent) ? readReasoning(state, at, reasoningContent) : [];
}

/** Adds text to a block, which begins if it has not, or if it has another kind. */
function writeDelta(state: DecoderState, at: number, kind: 'text' | 'reasoning', text: string): readonly InferenceEvent[] {
  if (text === '') return [];
  return [...ofKind(state, at, kind), ...addText(state, at, text)];
}

function ofKind(state: DecoderState, at: number, kind: 'text' | 'reasoning'): readonly InferenceEvent[] {
  if (state.open.get(at)?.kind === kind) return [];
  const before = [...begin(state), ...endBlock(state, at)];
  return [...before, ...openBlock(state, at, { kind })];
}

function addText(state: DecoderState, at: number, text: string): readonly InferenceEvent[] {
  const block = state.open.get(at);
  if (block === undefined) return [];
  block.hasDeltas = true;
  return [{ type: 'delta', index: block.index, text }];
}

function readInput(state: DecoderState, at: number, json: string): readonly InferenceEvent[] {
  return json === '' || state.open.get(at)?.kind !== 'tool-call' ? [] : addText(state, at, json);
}

function readReasoning(state: DecoderState, at: number, delta: JsonObject): readonly InferenceEvent[] {
  const { text, signature, redactedContent } = delta;
  const { proofOrigin } = state.reading;
  if (typeof text === 'string') return writeDelta(state, at, 'reasoning', text);
  const hidden = filledText(redactedContent);
  const proof = hidden === undefined ? signedBy(signature, proofOrigin) : { origin: proofOrigin, blob: hidden, hidden: true };
  if (proof === undefined) return [];
  const opened = ofKind(state, at, 'reasoning');
  const block = state.open.get(at);
  if (block !== undefined) block.proof = proof;
  return opened;
}

function endBlock(state: DecoderState, at: number): readonly InferenceEvent[] {
  const block = state.open.get(at);
  if (block === undefined) return [];
  state.open.delete(at);
  const { index, kind, hasDeltas, proof } = block;
  return [
    ...(kind === 'tool-call' && !hasDeltas ? [{ type: 'delta', index, text: '{}' } as const] : []),
    ...(proof === undefined ? [] : [{ type: 'proof', index, proof } as const]),
    { type: 'block-ended', index },
  ];
}

/** A stream that was interrupted has no end. */
function finish(state: DecoderState): readonly InferenceEvent[] {
  state.isOver = true;
  if (state.stopReason === undefined) return [];
  const ended = [...state.open.keys()].flatMap((at) => endBlock(state, at));
  return [...begin(state), ...ended, { type: 'finished', ...decodeEnding(state.stopReason, state.hasToolCalls) }];
}
