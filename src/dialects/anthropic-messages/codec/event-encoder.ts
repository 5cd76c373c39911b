import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EventEncoder, ReplyWriting } from '../../chat-codec.ts';
import { encodeCitation } from './citations.ts';
import {
  callIdOf,
  carryCallProof,
  encodeHead,
  encodeHiddenReasoning,
  addToolUses,
  encodeWholePart,
  showsThoughts,
} from './encode-reply.ts';
import { encodeServiceTier, encodeUsage } from './encode-usage.ts';
import { writeSignature } from './proof-fields.ts';
import { encodeEnding } from './stop-reasons.ts';
import { foreignToolId, splitPages, wireNameOf, writeInput, writeResultBlock } from './write-server-tools.ts';

/** The open block. It is written with its first text; a block without text and proof is never written. */
type OpenBlock = {
  readonly start: BlockStart;
  isWritten: boolean;
  hasText: boolean;
  isNewParagraph: boolean;
  proof: Proof | undefined;
  heldInput: string;
};

type EncoderState = {
  readonly writing: ReplyWriting;
  readonly showsThoughts: boolean;
  head: Extract<InferenceEvent, { type: 'started' }> | undefined;
  usage: Usage | undefined;
  /** The service tier, as `usage` contains it. */
  tier: JsonObject;
  block: OpenBlock | undefined;
  /** The index of the open or the next block. */
  index: number;
  framesSent: number;
  readonly contents: { toolCalls: boolean; refusals: boolean };
  readonly toolUses: { webSearches: number; pagesRead: number };
};

/**
 * Creates an encoder of a Messages stream: one block after another, `usage` estimated at the beginning and exact at the
 * end.
 */
export function createEventEncoder(writing: ReplyWriting): EventEncoder {
  const state: EncoderState = {
    writing,
    showsThoughts: showsThoughts(writing),
    head: undefined,
    usage: undefined,
    tier: {},
    block: undefined,
    index: 0,
    framesSent: 0,
    contents: { toolCalls: false, refusals: false },
    toolUses: { webSearches: 0, pagesRead: 0 },
  };
  return { write: (event) => writeEvent(state, event), open: () => writeStart(state), position: () => ({ framesSent: state.framesSent }) };
}

function writeEvent(state: EncoderState, event: InferenceEvent): string {
  switch (event.type) {
    case 'started':
      state.head = event;
      return '';
    case 'logprobs':
    case 'partial-image':
      return '';
    case 'usage':
      state.usage = event.usageReport.usage;
      state.tier = encodeServiceTier(event.usageReport);
      return '';
    case 'block-started':
      // Its deltas find no block and write nothing.
      if (event.block.kind === 'reasoning' && !state.showsThoughts) return writeStart(state);
      state.block = { start: event.block, isWritten: false, hasText: false, isNewParagraph: false, proof: undefined, heldInput: '' };
      if (event.block.kind === 'tool-call') state.contents.toolCalls = true;
      if (event.block.kind === 'refusal') state.contents.refusals = true;
      return writeStart(state) + (event.block.kind === 'server-tool' ? startTool(state, state.block, event.block) : '');
    case 'tool-outcome':
      return state.block?.start.kind === 'server-tool' ? endTool(state, state.block, event.part) : '';
    case 'part':
      if (event.part.kind === 'server-tool') addToolUses(state.toolUses, event.part);
      return (
        writeStart(state) +
        encodeWholePart(event.part, state.writing)
          .map((block) => writeWhole(state, block))
          .join('')
      );
    case 'finished':
      return writeStart(state) + writeEnd(state, event);
    case 'delta':
    case 'paragraph':
    case 'proof':
    case 'citation':
    case 'block-ended':
      return state.block === undefined ? '' : writeBlockEvent(state, state.block, event);
  }
}

function frame(state: EncoderState, type: string, members: string): string {
  state.framesSent += 1;
  return `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`;
}

/** Writes the first event. It waits for content, so that it can contain early counts of an upstream. */
function writeStart(state: EncoderState): string {
  const { head, usage, writing } = state;
  if (head === undefined) return '';
  state.head = undefined;
  const startUsage = usage?.inputTokens === undefined ? { ...usage, inputTokens: writing.inputTokensEstimate } : usage;
  const message = {
    ...encodeHead(head, writing),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...encodeUsage(startUsage), ...state.tier },
  };
  return frame(state, 'message_start', `,"message":${JSON.stringify(message)}`);
}

type BlockEvent = Extract<InferenceEvent, { type: 'delta' | 'paragraph' | 'proof' | 'citation' | 'block-ended' }>;

function writeBlockEvent(state: EncoderState, block: OpenBlock, event: BlockEvent): string {
  switch (event.type) {
    case 'delta':
      return writeText(state, block, event.text);
    case 'paragraph':
      block.isNewParagraph = block.hasText;
      return '';
    case 'proof':
      if (state.showsThoughts) block.proof = event.proof;
      return '';
    case 'citation':
      return openBlock(state, block) + writeDelta(state, `"citations_delta","citation":${JSON.stringify(encodeCitation(event.citation))}`);
    case 'block-ended':
      state.block = undefined;
      return endBlock(state, block);
  }
}

const deltaWords: Readonly<Record<BlockStart['kind'], string>> = {
  text: '"text_delta","text":',
  refusal: '"text_delta","text":',
  reasoning: '"thinking_delta","thinking":',
  'tool-call': '"input_json_delta","partial_json":',
  'server-tool': '',
};

type ToolStart = Extract<BlockStart, { kind: 'server-tool' }>;

/**
 * Starts a tool. Its input may be known now. Otherwise it arrives in deltas, which are held because they are not pieces
 * of JSON text.
 */
function startTool(state: EncoderState, block: OpenBlock, { tool, id, input }: ToolStart): string {
  const name = wireNameOf(tool);
  if (name === undefined) return '';
  block.isWritten = true;
  const begun = writeBlockStart(state, { type: 'server_tool_use', id: foreignToolId(id), name, input: {} });
  return input.length === 0 ? begun : begun + endToolInput(state, block, input);
}

function endToolInput(state: EncoderState, block: OpenBlock, input: readonly string[]): string {
  if (block.hasText || block.start.kind !== 'server-tool') return '';
  block.hasText = true;
  const json = JSON.stringify(writeInput(block.start.tool, input));
  return writeDelta(state, `"input_json_delta","partial_json":${JSON.stringify(json)}`) + writeStop(state);
}

/** Ends a tool, with or without a result. */
function endTool(state: EncoderState, block: OpenBlock, part: ServerToolPart): string {
  if (!block.isWritten) return '';
  block.isWritten = false;
  addToolUses(state.toolUses, part);
  const [first = part, ...others] = splitPages(part);
  const ended = endToolInput(state, block, first.input) + writeWhole(state, writeResultBlock(foreignToolId(part.id), first));
  const more = others.flatMap((page, at) => {
    const id = foreignToolId(part.id, at + 1);
    const use = { type: 'server_tool_use', id, name: wireNameOf(page.tool) ?? '', input: writeInput(page.tool, page.input) };
    return [writeWhole(state, use), writeWhole(state, writeResultBlock(id, page))];
  });
  return ended + more.join('');
}

/** Ends a tool that was interrupted. */
function interruptTool(state: EncoderState, block: OpenBlock): string {
  if (!block.isWritten || block.start.kind !== 'server-tool') return '';
  const { tool, id, input } = block.start;
  const heldInput = block.heldInput === '' ? input : [block.heldInput];
  return endTool(state, block, { kind: 'server-tool', tool, id, input: heldInput, failed: true, failure: 'unavailable', wire: [] });
}

function writeText(state: EncoderState, block: OpenBlock, text: string): string {
  if (block.start.kind === 'server-tool') {
    block.heldInput += text;
    return '';
  }
  const opened = openBlock(state, block);
  const words = block.isNewParagraph ? `\n\n${text}` : text;
  block.isNewParagraph = false;
  block.hasText = true;
  return opened + writeDelta(state, deltaWords[block.start.kind] + JSON.stringify(words));
}

function writeDelta(state: EncoderState, members: string): string {
  return frame(state, 'content_block_delta', `,"index":${state.index},"delta":{"type":${members}}`);
}

function openBlock(state: EncoderState, block: OpenBlock): string {
  if (block.isWritten) return '';
  block.isWritten = true;
  const { start, proof } = block;
  if (start.kind !== 'tool-call') {
    return writeBlockStart(
      state,
      start.kind === 'reasoning' ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' },
    );
  }
  const id = callIdOf(start.id);
  const carried = proof === undefined ? '' : writeWhole(state, carryCallProof(id, proof));
  block.proof = undefined;
  return carried + writeBlockStart(state, { type: 'tool_use', id, name: start.name, input: {} });
}

function writeBlockStart(state: EncoderState, block: JsonObject): string {
  return frame(state, 'content_block_start', `,"index":${state.index},"content_block":${JSON.stringify(block)}`);
}

function writeStop(state: EncoderState): string {
  const written = frame(state, 'content_block_stop', `,"index":${state.index}`);
  state.index += 1;
  return written;
}

function endBlock(state: EncoderState, block: OpenBlock): string {
  const { start, proof } = block;
  switch (start.kind) {
    case 'server-tool':
      return interruptTool(state, block);
    case 'text':
    case 'refusal':
      return block.isWritten ? writeStop(state) : '';
    case 'reasoning':
      if (!block.isWritten && proof === undefined) return '';
      if (!block.isWritten && proof?.hidden === true) return writeWhole(state, encodeHiddenReasoning(proof));
      return (
        openBlock(state, block) +
        writeDelta(state, `"signature_delta","signature":${JSON.stringify(writeSignature(proof))}`) +
        writeStop(state)
      );
    case 'tool-call': {
      const ended = openBlock(state, block) + writeStop(state);
      // It arrived too late to precede the call.
      return block.proof === undefined ? ended : ended + writeWhole(state, carryCallProof(callIdOf(start.id), block.proof));
    }
  }
}

/**
 * Writes a block that is known from the beginning. Like the vendor, it sends the input of tools and the text of
 * thinking as deltas.
 */
function writeWhole(state: EncoderState, block: JsonObject): string {
  if (block.type === 'thinking') {
    const start = writeBlockStart(state, { ...block, signature: '' });
    return start + writeDelta(state, `"signature_delta","signature":${JSON.stringify(block.signature)}`) + writeStop(state);
  }
  if (block.input === undefined) return writeBlockStart(state, block) + writeStop(state);
  const start = writeBlockStart(state, { ...block, input: {} });
  return start + writeDelta(state, `"input_json_delta","partial_json":${JSON.stringify(JSON.stringify(block.input))}`) + writeStop(state);
}

/** Writes the end. Usage is beside `delta`, like at the vendor, and inside, like in the contract. */
function writeEnd(state: EncoderState, event: Extract<InferenceEvent, { type: 'finished' }>): string {
  const usage: JsonObject = { ...encodeUsage(state.usage ?? {}, state.toolUses), ...state.tier };
  const { input_tokens: inputTokens, ...others } = usage;
  // If the upstream never reported usage, the estimate remains.
  const endUsage = state.usage?.inputTokens === undefined ? others : usage;
  const contractUsage = { input_tokens: inputTokens, output_tokens: usage.output_tokens };
  const delta = { ...encodeEnding(event, state.contents), usage: contractUsage };
  return (
    frame(state, 'message_delta', `,"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(endUsage)}`) +
    frame(state, 'message_stop', '')
  );
}
