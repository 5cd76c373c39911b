import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { Proof } from '../../../inference/proof.ts';
import type { Frame, StreamFraming } from '../../../platform/frames.ts';
import { filledText, objectOf, objectsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { emptyReplyState, findUsage, isFinished, readChunk } from '../read-chunk.ts';
import { addCodeResult, startCode } from './decode-contents.ts';
import { addGrounding, decodeCitations, noGrounding, type PartStart, type ReplyText } from './decode-grounding.ts';
import { decodeLogprobs } from './decode-logprobs.ts';
import { decodeMedia } from './decode-media.ts';
import { decodeToolRecords } from './decode-tool-records.ts';
import { decodeStopReason } from './stop-reasons.ts';
import { isForeignSignature } from './thought-signature.ts';

type OpenBlock = { readonly index: number; readonly kind: 'text' | 'reasoning'; readonly text?: ReplyText; isProven: boolean };

/**
 * Reads chunks of a reply, or a whole reply as one chunk. Text continues in one block over any number of chunks.
 * Sources arrive at the end and belong to the text that is open then.
 */
export class ChunkDecoder {
  readonly #reading: ReplyReading;
  /**
   * Whether the chunks are a whole reply: its texts stay open to the end, so that each can get its sources, and it
   * needs no finish reason.
   */
  readonly #isWhole: boolean;
  #events: InferenceEvent[] = [];
  #state = emptyReplyState;
  #isStarted = false;
  #hasFailed = false;
  #hasCalls = false;
  #nextIndex = 0;
  #open: OpenBlock | undefined;
  #code: ServerToolPart | undefined;
  readonly #texts: ReplyText[] = [];
  readonly #unended = new Set<number>();
  /** The positions at which the parts of a whole reply begin; in a stream, the indices of parts mean nothing. */
  readonly #places = new Map<number, PartStart>();
  #partCount = 0;
  #grounding = noGrounding;
  #finishMessage: string | undefined;
  #blockMessage: string | undefined;

  constructor(reading: ReplyReading, isWhole: boolean) {
    this.#reading = reading;
    this.#isWhole = isWhole;
  }

  read(chunk: JsonObject): readonly InferenceEvent[] {
    this.#events = [];
    // The tap handles errors. Earlier content stays, and nothing finishes after an error.
    this.#hasFailed ||= isJsonObject(chunk.error);
    if (this.#hasFailed) return [];
    this.#state = readChunk(this.#state, chunk);
    this.#start(chunk);
    this.#tellUsage(chunk);
    this.#blockMessage ??= filledText(objectOf(chunk.promptFeedback)?.blockReasonMessage);
    // The gateway never requests several candidates; of a server that sends them, only the first is read.
    const candidate = objectsOf(chunk.candidates).find(({ index }) => index === undefined || index === 0);
    if (candidate !== undefined) this.#readCandidate(candidate);
    return this.#events;
  }

  /** Ends the reply after the body. Without a finish reason the reply was cut, and nothing ends. */
  end(): readonly InferenceEvent[] {
    this.#events = [];
    if (this.#hasFailed || (!this.#isWhole && !isFinished(this.#state))) return [];
    this.#flushCode();
    this.#tellCitations();
    this.#open = undefined;
    for (const index of this.#unended) this.#events.push({ type: 'block-ended', index });
    for (const part of decodeToolRecords(this.#grounding, this.#reading.newId)) {
      this.#events.push({ type: 'part', index: this.#nextIndex++, part });
    }
    const usageReport = findUsage(this.#state, true);
    if (usageReport !== undefined) this.#events.push({ type: 'usage', usageReport });
    this.#finish();
    return this.#events;
  }

  /** Keep-alive chunks, which contain only an empty usage, begin nothing. */
  #start(chunk: JsonObject): void {
    const { candidates, promptFeedback, responseId, modelVersion } = chunk;
    if (this.#isStarted || (candidates ?? promptFeedback ?? responseId ?? modelVersion) === undefined) return;
    this.#isStarted = true;
    const replyId = filledText(responseId);
    const servedModel = filledText(modelVersion);
    this.#events.push({
      type: 'started',
      ...(replyId === undefined ? {} : { replyId }),
      ...(servedModel === undefined ? {} : { servedModel }),
    });
  }

  /** The vendor's counts grow with every chunk; the last count follows at the end. */
  #tellUsage({ usageMetadata }: JsonObject): void {
    if (this.#isWhole || !this.#isStarted || !isJsonObject(usageMetadata)) return;
    const usageReport = findUsage(this.#state, false);
    if (usageReport !== undefined) this.#events.push({ type: 'usage', usageReport });
  }

  #readCandidate(candidate: JsonObject): void {
    const tokens = decodeLogprobs(candidate.logprobsResult);
    if (tokens.length > 0) this.#events.push({ type: 'logprobs', tokens });
    for (const part of objectsOf(objectOf(candidate.content)?.parts)) {
      this.#readPart(part);
      this.#partCount += 1;
    }
    this.#grounding = addGrounding(this.#grounding, candidate);
    this.#finishMessage = filledText(candidate.finishMessage) ?? this.#finishMessage;
  }

  #readPart(part: JsonObject): void {
    const { text, functionCall, executableCode, codeExecutionResult } = part;
    const proof = this.#readProof(part.thoughtSignature);
    if (isJsonObject(codeExecutionResult)) {
      this.#readCode(part, addCodeResult(this.#code ?? startCode(part, this.#reading.newId('code')), part));
      return;
    }
    if (text !== '' || proof !== undefined) this.#flushCode();
    if (isJsonObject(executableCode)) this.#readCode(part, startCode(part, this.#reading.newId('code')));
    else if (isJsonObject(functionCall)) this.#readCall(functionCall, proof);
    else if (typeof text === 'string' && text !== '') this.#readText(text, part.thought === true ? 'reasoning' : 'text', proof);
    else if (part.inlineData !== undefined || part.fileData !== undefined) this.#readMedia(part);
    else if (proof !== undefined) this.#readLoneProof(proof);
  }

  #readProof(signature: JsonValue | undefined): Proof | undefined {
    // A foreign signature repeats one of the request. It belongs neither to this vendor nor to a new part.
    if (typeof signature !== 'string' || signature === '' || isForeignSignature(signature)) return undefined;
    return { origin: this.#reading.proofOrigin, blob: signature };
  }

  #readText(text: string, kind: OpenBlock['kind'], proof: Proof | undefined): void {
    // A proof ends its text, because the vendor requires it on the same part.
    const open = this.#open?.kind === kind && !this.#open.isProven ? this.#open : this.#openBlock(kind);
    if (open.text !== undefined) {
      if (this.#isWhole) this.#places.set(this.#partCount, { text: open.text, characters: open.text.text.length });
      open.text.text += text;
    }
    this.#events.push({ type: 'delta', index: open.index, text });
    if (proof !== undefined) this.#prove(open, proof);
  }

  #openBlock(kind: OpenBlock['kind']): OpenBlock {
    this.#endBlock();
    const index = this.#nextIndex++;
    const text = kind === 'text' ? { text: { block: index, text: '' } } : {};
    const open: OpenBlock = { index, kind, isProven: false, ...text };
    if (open.text !== undefined) this.#texts.push(open.text);
    this.#open = open;
    this.#unended.add(index);
    this.#events.push({ type: 'block-started', index, block: { kind } });
    return open;
  }

  #prove(open: OpenBlock, proof: Proof): void {
    open.isProven = true;
    this.#events.push({ type: 'proof', index: open.index, proof });
  }

  /** Reads a part that contains only a signature. It belongs to the text before it, or else to hidden reasoning. */
  #readLoneProof(proof: Proof): void {
    const open = this.#open === undefined || this.#open.isProven ? this.#openBlock('reasoning') : this.#open;
    this.#prove(open, proof);
  }

  #endBlock(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined || (this.#isWhole && open.kind === 'text')) return;
    this.#unended.delete(open.index);
    this.#events.push({ type: 'block-ended', index: open.index });
  }

  /**
   * Reads a call, which is complete in its part. Its proof comes first, for dialects that write proofs before calls.
   */
  #readCall(call: JsonObject, proof: Proof | undefined): void {
    const name = filledText(call.name);
    if (name === undefined) return;
    this.#endBlock();
    this.#hasCalls = true;
    const index = this.#nextIndex++;
    const id = filledText(call.id) ?? this.#reading.newId('call');
    this.#events.push({ type: 'block-started', index, block: { kind: 'tool-call', id, name } });
    if (proof !== undefined) this.#events.push({ type: 'proof', index, proof });
    const args = filledText(call.args) ?? JSON.stringify(call.args ?? {});
    this.#events.push({ type: 'delta', index, text: args }, { type: 'block-ended', index });
  }

  #readCode(wire: JsonObject, code: ServerToolPart): void {
    this.#endBlock();
    this.#code = code;
    if (wire.codeExecutionResult !== undefined) this.#flushCode();
  }

  /** Writes code that waits for its result, which comes in the next part or never. */
  #flushCode(): void {
    const part = this.#code;
    if (part === undefined) return;
    this.#code = undefined;
    this.#events.push({ type: 'part', index: this.#nextIndex++, part });
  }

  #readMedia(part: JsonObject): void {
    const media = decodeMedia(part);
    if (media === undefined) return;
    this.#endBlock();
    this.#events.push({ type: 'part', index: this.#nextIndex++, part: media });
  }

  /** Writes the sources. Sources of a text that has ended already are cited in the last text, without a span. */
  #tellCitations(): void {
    const last = this.#texts.at(-1);
    if (last === undefined || !this.#unended.has(last.block)) return;
    for (const { text, citation } of decodeCitations(this.#grounding, this.#texts, this.#places)) {
      if (this.#unended.has(text.block)) this.#events.push({ type: 'citation', index: text.block, citation });
      else {
        const { start: _start, end: _end, ...source } = citation;
        this.#events.push({ type: 'citation', index: last.block, citation: source });
      }
    }
  }

  #finish(): void {
    const { blockReason, candidates } = this.#state;
    const finishReason = candidates.get(0)?.finishReason ?? [...candidates.values()][0]?.finishReason;
    if (finishReason === undefined && blockReason === undefined) {
      this.#events.push({ type: 'finished', stopReason: candidates.size === 0 ? 'failed' : decodeStopReason('STOP', this.#hasCalls) });
      return;
    }
    if (finishReason === undefined) {
      const stopDetail = this.#blockMessage ?? blockReason;
      this.#events.push({ type: 'finished', stopReason: 'refusal', ...(stopDetail === undefined ? {} : { stopDetail }) });
      return;
    }
    const stopReason = decodeStopReason(finishReason, this.#hasCalls);
    const isOdd = stopReason === 'refusal' || stopReason === 'failed';
    const stopDetail = isOdd ? (this.#finishMessage ?? finishReason) : undefined;
    this.#events.push({ type: 'finished', stopReason, ...(stopDetail === undefined ? {} : { stopDetail }) });
  }
}

/** Returns the chunks of a frame: one, or those of an array that a server sent in place of events. */
function readChunks(frame: Frame): readonly JsonObject[] {
  const value = frame.value();
  // The tap counts malformed frames.
  return Array.isArray(value) ? objectsOf(value) : isJsonObject(value) ? [value] : [];
}

/**
 * Creates a decoder of a stream. With events, the dialect has no end mark: `finished` comes when the body has ended and
 * contained a finish reason, after the last usage. An array ends with its closing bracket.
 */
export function createEventDecoder(reading: ReplyReading, framing: StreamFraming): EventDecoder {
  const decoder = new ChunkDecoder(reading, false);
  let isClosed = framing === 'sse';
  return {
    read: (frame: Frame) => {
      if (frame.data !== '') return readChunks(frame).flatMap((chunk) => decoder.read(chunk));
      isClosed ||= frame.bytes.includes(']');
      return [];
    },
    end: () => (isClosed ? decoder.end() : []),
  };
}
