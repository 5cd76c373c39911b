import type { Citation } from '../../../inference/citation.ts';
import { countCodePoints } from '../../../inference/count-code-points.ts';
import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { StopReason } from '../../../inference/inference-reply.ts';
import type { MediaPart } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { writeDataUrl } from '../../data-url.ts';
import { encodeAnnotation } from './citations.ts';
import { isLegacyRequest } from './decode-tools.ts';
import { member } from './member.ts';
import { encodeDetails, encodeThoughtSignature } from './reasoning-details.ts';
import { encodeStopReason } from './stop-reasons.ts';

type OpenBlock = {
  readonly start: BlockStart;
  /** The text so far, split into paragraphs. */
  readonly paragraphs: string[];
  readonly citations: Citation[];
  /** Characters of a paragraph break before the text. It belongs to the content but not to the text. */
  breakCharacters: number;
  proof: Proof | undefined;
  /** The index of a call among the calls. */
  readonly callIndex: number;
};

const paragraphBreak = '\n\n';

/**
 * Writes a reply as deltas of this dialect. A stream sends them; added up, they are the message of a whole reply.
 *
 * The official SDKs replace some lists instead of adding them up (annotations, reasoning details, images). So these are
 * sent once, complete, in a delta at the end.
 */
export class DeltaWriter {
  readonly #writing: ReplyWriting;
  readonly #isLegacy: boolean;
  #block: OpenBlock | undefined;
  #calls = 0;
  #hasRefusal = false;
  #contentCharacters = 0;
  /** A tool has run since the last text, so the next text is a new paragraph. */
  #hasRunTool = false;
  #endsLine = false;
  /** Reasoning has been written, so more of it begins a new paragraph. */
  #hasThoughts = false;
  #breakIsDue = false;
  #reasoningPieces = 0;
  readonly #details: JsonObject[] = [];
  readonly #annotations: JsonObject[] = [];
  readonly #images: JsonObject[] = [];
  #audio: JsonObject | undefined;
  #textProof: Proof | undefined;

  constructor(writing: ReplyWriting) {
    this.#writing = writing;
    this.#isLegacy = isLegacyRequest(writing.request);
  }

  /** The delta for an event. Undefined if there is nothing to write for it yet. */
  write(event: InferenceEvent): JsonObject | undefined {
    switch (event.type) {
      case 'block-started':
        return this.#startBlock(event.block);
      case 'delta':
        return this.#writeText(event.text);
      case 'paragraph':
        this.#block?.paragraphs.push('');
        this.#breakIsDue = true;
        return undefined;
      case 'proof':
        return this.#readProof(event.proof);
      case 'citation':
        this.#block?.citations.push(event.citation);
        return undefined;
      case 'block-ended':
        return this.#endBlock();
      case 'part':
      case 'tool-outcome':
        if (event.part.kind === 'media') this.#readMedia(event.part);
        else this.#hasRunTool = true;
        return undefined;
      case 'started':
      case 'partial-image':
      case 'logprobs':
      case 'usage':
      case 'finished':
        return undefined;
    }
  }

  /** The delta of lists that are sent complete at the end. Undefined if there are none. */
  writeTail(): JsonObject | undefined {
    const tail: JsonObject = {
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
      ...(this.#images.length > 0 && { images: this.#images }),
      ...member('audio', this.#audio),
      ...(this.#textProof === undefined ? {} : encodeThoughtSignature(this.#textProof)),
    };
    return Object.keys(tail).length === 0 ? undefined : tail;
  }

  finishReason(stopReason: StopReason): string {
    const reason = encodeStopReason(stopReason, { hasCalls: this.#calls > 0, hasRefusal: this.#hasRefusal });
    return reason === 'tool_calls' && this.#isLegacy ? 'function_call' : reason;
  }

  #startBlock(start: BlockStart): JsonObject | undefined {
    this.#block = { start, paragraphs: [''], citations: [], breakCharacters: 0, proof: undefined, callIndex: this.#calls };
    if (start.kind === 'server-tool') this.#hasRunTool = true;
    if (start.kind === 'refusal') this.#hasRefusal = true;
    if (start.kind === 'reasoning' && this.#hasThoughts) this.#breakIsDue = true;
    return start.kind === 'tool-call' ? this.#startCall(start) : undefined;
  }

  #startCall({ id, name }: Extract<BlockStart, { kind: 'tool-call' }>): JsonObject | undefined {
    const index = this.#calls++;
    if (!this.#isLegacy) return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
    if (index === 0) return { function_call: { name, arguments: '' } };
    this.#writing.notes.dropped('tools', 'the older function_call has room for one call; use tools to receive all of them');
    return undefined;
  }

  #writeText(text: string): JsonObject | undefined {
    const block = this.#block;
    if (block === undefined) return undefined;
    block.paragraphs.push((block.paragraphs.pop() ?? '') + text);
    switch (block.start.kind) {
      case 'text':
        return { content: this.#breakContent(block, text) + text };
      case 'server-tool':
        return undefined;
      case 'refusal':
        return { refusal: text };
      case 'reasoning':
        return { reasoning_content: this.#takeBreak() + text };
      case 'tool-call':
        return this.#writeArguments(block, text);
    }
  }

  /** Text before and after a tool run is in separate paragraphs. */
  #breakContent(block: OpenBlock, text: string): string {
    if (!this.#hasRunTool) return '';
    this.#hasRunTool = false;
    if (this.#contentCharacters === 0 || this.#endsLine || text.startsWith('\n')) return '';
    block.breakCharacters = paragraphBreak.length;
    return paragraphBreak;
  }

  /** A break is written before the reasoning that follows it, because no text ends with one. */
  #takeBreak(): string {
    const due = this.#breakIsDue && this.#hasThoughts ? paragraphBreak : '';
    this.#breakIsDue = false;
    this.#hasThoughts = true;
    return due;
  }

  #writeArguments({ callIndex }: OpenBlock, text: string): JsonObject | undefined {
    if (!this.#isLegacy) return { tool_calls: [{ index: callIndex, function: { arguments: text } }] };
    return callIndex === 0 ? { function_call: { arguments: text } } : undefined;
  }

  #readProof(proof: Proof): JsonObject | undefined {
    const block = this.#block;
    if (block === undefined) return undefined;
    if (block.start.kind === 'text') this.#textProof = proof;
    if (block.start.kind !== 'tool-call' || this.#isLegacy) {
      block.proof = proof;
      return undefined;
    }
    // The function is present although it is empty: @ai-sdk/openai-compatible accepts no call without it and ends the
    // stream.
    return { tool_calls: [{ index: block.callIndex, function: { arguments: '' }, ...encodeThoughtSignature(proof) }] };
  }

  #endBlock(): JsonObject | undefined {
    const block = this.#block;
    this.#block = undefined;
    if (block === undefined) return undefined;
    const text = block.paragraphs.join('');
    switch (block.start.kind) {
      case 'text':
        this.#endText(block, text);
        return undefined;
      case 'reasoning':
        this.#endReasoning(block);
        return undefined;
      case 'tool-call':
        // Clients parse the arguments without a check, and an empty text is not JSON.
        return text === '' ? this.#writeArguments(block, '{}') : undefined;
      case 'server-tool':
      case 'refusal':
        return undefined;
    }
  }

  #endText({ citations, breakCharacters }: OpenBlock, text: string): void {
    const start = this.#contentCharacters + breakCharacters;
    this.#contentCharacters = start + countCodePoints(text);
    if (text !== '') this.#endsLine = text.endsWith('\n');
    const span = { start, end: this.#contentCharacters };
    // A source that is named twice at one position is written once.
    const written = new Set<string>();
    for (const citation of citations) {
      const annotation = encodeAnnotation(citation, span);
      const key = JSON.stringify(annotation);
      if (written.has(key)) continue;
      written.add(key);
      if (annotation !== undefined) this.#annotations.push(annotation);
      // @ai-sdk/openai rejects a whole message with an annotation of another kind.
      else this.#writing.notes.dropped('tools', 'this interface has annotations for addresses only; citations of files were omitted');
    }
  }

  #endReasoning({ start, paragraphs, proof }: OpenBlock): void {
    if (proof === undefined) return;
    const text = paragraphs.filter((paragraph) => paragraph !== '');
    const itemId = start.kind === 'reasoning' ? start.itemId : undefined;
    const part = { kind: 'reasoning', text, proof, ...(itemId === undefined ? {} : { itemId }) } as const;
    this.#details.push(...encodeDetails(part, this.#reasoningPieces++));
  }

  #readMedia({ media, source }: MediaPart): void {
    if (media === 'image' && (source.kind === 'inline' || source.kind === 'url')) {
      const url = source.kind === 'url' ? source.url : writeDataUrl(source);
      this.#images.push({ type: 'image_url', image_url: { url } });
    } else if (media === 'audio' && source.kind === 'inline' && this.#audio === undefined) {
      // Nothing is stored under the id, and its time ends with the reply.
      const expires = Math.floor(this.#writing.createdAtMs / 1000);
      this.#audio = { id: this.#writing.newId('audio'), data: source.data, transcript: '', expires_at: expires };
    } else this.#writing.notes.dropped('turns', 'the reply contained media that this interface does not support');
  }
}
