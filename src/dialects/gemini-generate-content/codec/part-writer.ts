import type { Citation } from '../../../inference/citation.ts';
import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { MediaPart, ServerToolPart } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import { repairToolArguments } from '../../../inference/tool-arguments.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { encodeCode, encodeCodeResult, encodeExecutable } from './encode-code.ts';
import type { CitedText, GroundingSources } from './encode-grounding.ts';
import { encodeSource } from './encode-media.ts';
import { dummySignature, writePartSignature, writeSignature } from './thought-signature.ts';

/** A new part of the reply, or more text of the part before it. */
export type WrittenPart = { readonly part: JsonObject; readonly continues: boolean };

type OpenBlock = {
  readonly block: BlockStart;
  /** The text so far; for reasoning, by paragraphs. */
  readonly paragraphs: string[];
  readonly citations: Citation[];
  proof: Proof | undefined;
  /** The index of the block's part, if it has one, and the bytes of text before the block in that part. */
  partIndex: number | undefined;
  bytesInPart: number;
  /** Code that was already written while it runs. */
  code: string | undefined;
  hasOutcome: boolean;
};

const paragraphBreak = '\n\n';

/** A text with its sizes in bytes, as streams and whole replies count them. */
type KeptText = CitedText & { readonly bytesInPart: number };

/**
 * Converts events into parts: text and thoughts at once, calls when they are complete. The proof of reasoning is on the
 * part after it, like the vendor's, because clients keep it there; otherwise on an empty last part.
 */
export class PartWriter {
  readonly #showsThoughts: boolean;
  #open: OpenBlock | undefined;
  #pendingSignature: string | undefined;
  #hasCalls = false;
  #partCount = 0;
  /** Whether the last part has a signature. Text continues only in a part of its own kind without one. */
  #lastSigned = false;
  /** The bytes of the last part, if it is text that can continue. */
  #joinableBytes: number | undefined;
  #textBytes = 0;
  /** Whether a tool that no part shows has run since the last text. Then the next text is a new paragraph. */
  #hasRunTool = false;
  #endsLine = false;
  readonly #texts: KeptText[] = [];
  readonly #tools: ServerToolPart[] = [];

  /**
   * @param showsThoughts whether the client requested thoughts: a client that did not would take them for the answer
   */
  constructor(showsThoughts: boolean) {
    this.#showsThoughts = showsThoughts;
  }

  write(event: InferenceEvent): readonly WrittenPart[] {
    switch (event.type) {
      case 'block-started':
        return this.#startBlock(event.block);
      case 'delta':
        return this.#open === undefined ? [] : this.#writeDelta(this.#open, event.text);
      case 'paragraph':
        this.#open?.paragraphs.push('');
        return [];
      case 'proof':
        return this.#open === undefined ? [] : this.#writeProof(this.#open, event.proof);
      case 'citation':
        this.#open?.citations.push(event.citation);
        return [];
      case 'block-ended':
        return this.#endBlock();
      case 'part':
        return this.#writePart(event.part);
      case 'tool-outcome':
        return this.#writeOutcome(event.part);
      case 'started':
      case 'partial-image':
      case 'logprobs':
      case 'usage':
      case 'finished':
        return [];
    }
  }

  /** Returns the rest at the end: a signature that no part has. */
  end(): readonly WrittenPart[] {
    return this.#flushSignature();
  }

  /** Returns the sources. Offsets of a stream count from the beginning of all text, in any part. */
  sources(isStream: boolean): GroundingSources {
    const texts = this.#texts.map(({ bytesInPart, ...text }) =>
      isStream ? { ...text, partIndex: 0 } : { ...text, bytesBefore: bytesInPart },
    );
    return { texts, tools: this.#tools };
  }

  #startBlock(block: BlockStart): readonly WrittenPart[] {
    const code = block.kind === 'server-tool' && block.tool === 'code-execution' ? block.input.join('\n') : '';
    this.#open = {
      block,
      paragraphs: [''],
      citations: [],
      proof: undefined,
      partIndex: undefined,
      bytesInPart: 0,
      code: code === '' ? undefined : code,
      hasOutcome: false,
    };
    // Code that is known before it runs is written while it runs.
    return code === '' ? [] : [this.#add(encodeExecutable(code), false)];
  }

  #writeDelta(open: OpenBlock, text: string): readonly WrittenPart[] {
    const isFirstOfParagraph = open.paragraphs.at(-1) === '';
    const hasText = open.paragraphs.some((paragraph) => paragraph !== '');
    open.paragraphs.push((open.paragraphs.pop() ?? '') + text);
    if (open.block.kind === 'tool-call' || open.block.kind === 'server-tool') return [];
    if (open.block.kind !== 'reasoning') return [this.#textPart(open, { text })];
    if (!this.#showsThoughts) return [];
    return [this.#textPart(open, { text: isFirstOfParagraph && hasText ? `\n\n${text}` : text, thought: true })];
  }

  /** Writes more of the block's part, or its first piece. The first text after reasoning gets the signature. */
  #textPart(open: OpenBlock, part: JsonObject): WrittenPart {
    const signature = part.thought === true ? undefined : this.#takeSignature();
    // Clients that insert marks into the text of a whole reply treat it as one text, even with searches in between.
    const joined = open.partIndex === undefined && open.block.kind === 'text' && !this.#lastSigned ? this.#joinableBytes : undefined;
    const continues = (open.partIndex !== undefined || joined !== undefined) && signature === undefined;
    const paragraph = joined !== undefined && continues && this.#hasRunTool ? this.#beginParagraph(part) : part;
    if (open.block.kind === 'text') this.#hasRunTool = false;
    const written = this.#add(signature === undefined ? paragraph : { ...part, thoughtSignature: signature }, continues);
    if (open.partIndex === undefined && continues) open.bytesInPart = (joined ?? 0) + (paragraph === part ? 0 : paragraphBreak.length);
    open.partIndex ??= this.#partCount - 1;
    return written;
  }

  /** Begins a new paragraph: text before and after a tool are paragraphs of one text. */
  #beginParagraph(part: JsonObject): JsonObject {
    if (this.#endsLine || typeof part.text !== 'string' || part.text.startsWith('\n')) return part;
    this.#textBytes += paragraphBreak.length;
    return { ...part, text: paragraphBreak + part.text };
  }

  #add(part: JsonObject, continues: boolean): WrittenPart {
    if (!continues) this.#partCount += 1;
    this.#joinableBytes = undefined;
    this.#lastSigned = part.thoughtSignature !== undefined || (continues && this.#lastSigned);
    return { part, continues };
  }

  #takeSignature(): string | undefined {
    const signature = this.#pendingSignature;
    this.#pendingSignature = undefined;
    return signature;
  }

  #flushSignature(): readonly WrittenPart[] {
    const signature = this.#takeSignature();
    return signature === undefined ? [] : [this.#add({ text: '', thoughtSignature: signature }, false)];
  }

  #writeProof(open: OpenBlock, proof: Proof): readonly WrittenPart[] {
    open.proof = proof;
    if (open.block.kind !== 'text') return [];
    // The text is already sent: its signature follows on an empty piece, unless that has one.
    const flushed = this.#flushSignature();
    const continues = open.partIndex !== undefined && !this.#lastSigned;
    const written = this.#add({ text: '', thoughtSignature: writePartSignature(proof) }, continues);
    open.partIndex ??= this.#partCount - 1;
    return [...flushed, written];
  }

  #endBlock(): readonly WrittenPart[] {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return [];
    const { block, proof } = open;
    if (block.kind === 'tool-call') return this.#writeCall(block, open.paragraphs.join(''), proof);
    if (block.kind === 'server-tool') return open.hasOutcome ? [] : this.#writeInterrupted(block, open);
    if (block.kind !== 'reasoning') {
      this.#keepText(open);
      return [];
    }
    if (proof === undefined) return [];
    const flushed = this.#flushSignature();
    const { itemId } = block;
    const text = open.paragraphs.filter((paragraph) => paragraph !== '');
    this.#pendingSignature = writeSignature({ proof, text, ...(itemId === undefined ? {} : { itemId }) });
    return flushed;
  }

  #keepText({ block, paragraphs, citations, partIndex, bytesInPart }: OpenBlock): void {
    const text = paragraphs.join('');
    if (citations.length > 0 && text !== '') {
      this.#texts.push({ text, citations, bytesBefore: this.#textBytes, partIndex: partIndex ?? 0, bytesInPart });
    }
    const bytes = Buffer.byteLength(text);
    this.#textBytes += bytes;
    if (text !== '') this.#endsLine = text.endsWith('\n');
    if (block.kind === 'text' && text !== '') this.#joinableBytes = bytesInPart + bytes;
  }

  #writeCall({ id, name }: Extract<BlockStart, { kind: 'tool-call' }>, text: string, proof: Proof | undefined): readonly WrittenPart[] {
    const flushed = proof === undefined ? [] : this.#flushSignature();
    // The vendor's own models refuse a first call without a signature if the conversation continues with one of them.
    const substitute = this.#hasCalls ? undefined : dummySignature;
    this.#hasCalls = true;
    const signature = proof === undefined ? (this.#takeSignature() ?? substitute) : writePartSignature(proof);
    const signed = signature === undefined ? {} : { thoughtSignature: signature };
    return [...flushed, this.#add({ functionCall: { id, name, args: repairToolArguments(text) }, ...signed }, false)];
  }

  #writePart(part: ServerToolPart | MediaPart): readonly WrittenPart[] {
    if (part.kind === 'media') return part.source.kind === 'vendor-file' ? [] : [this.#add(encodeSource(part.source), false)];
    if (part.tool === 'code-execution') return encodeCode(part).map((wire) => this.#add(wire, false));
    this.#hasRunTool = true;
    if (part.tool !== 'other') this.#tools.push(part);
    return [];
  }

  #writeOutcome(part: ServerToolPart, open = this.#open): readonly WrittenPart[] {
    if (open !== undefined) open.hasOutcome = true;
    const isWritten = open?.code !== undefined && part.tool === 'code-execution' && part.input.join('\n') === open.code;
    return isWritten ? encodeCodeResult(part).map((wire) => this.#add(wire, false)) : this.#writePart(part);
  }

  /** Writes a tool without a result: it has failed, and only its input is known. */
  #writeInterrupted({ tool, id, input }: Extract<BlockStart, { kind: 'server-tool' }>, open: OpenBlock): readonly WrittenPart[] {
    const more = open.paragraphs.join('');
    const fullInput = more === '' ? input : [...input, more];
    return this.#writeOutcome({ kind: 'server-tool', tool, id, input: fullInput, failed: true, wire: [] }, open);
  }
}
