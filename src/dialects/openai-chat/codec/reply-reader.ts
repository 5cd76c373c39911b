import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { readDataUrl } from '../../data-url.ts';
import { decodeUsage } from '../decode-usage.ts';
import { BlockWriter } from './block-writer.ts';
import { CallAssembler } from './call-assembler.ts';
import { decodeAnnotation, decodeSource } from './citations.ts';
import { guessAudioType } from './guess-audio-type.ts';
import { decodeLogprobs } from './logprobs.ts';
import { detailText, readThoughts, readThoughtSignature, takeProof } from './reasoning-details.ts';
import { decodeStopReason, isUsualReason } from './stop-reasons.ts';

/** Reads chunks of a stream, or a whole reply as one chunk, into events. Never throws, for any input. */
export class ReplyReader {
  readonly #reading: ReplyReading;
  readonly #writer: BlockWriter;
  readonly #calls: CallAssembler;
  #hasStarted = false;
  #hasDeltas = false;
  /** The choice that is read: the first to arrive. Only one was requested. */
  #choiceIndex: JsonValue | undefined;
  #hasChoice = false;
  #finishReason: string | undefined;
  #stopSequence: string | undefined;
  #serviceTier: string | undefined;
  #hasUsage = false;
  #usageTrustworthy = true;
  #sources: JsonValue | undefined;
  #audio = '';

  constructor(reading: ReplyReading) {
    this.#reading = reading;
    this.#writer = new BlockWriter(reading.proofOrigin);
    this.#calls = new CallAssembler(reading, this.#writer);
  }

  /** Whether the upstream has sent everything: the finish reason and the usage. */
  isComplete(): boolean {
    return this.#finishReason !== undefined && this.#hasUsage;
  }

  read(chunk: JsonObject): readonly InferenceEvent[] {
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (!this.#hasStarted && (choices.length > 0 || isJsonObject(chunk.usage))) this.#start(chunk);
    if (typeof chunk.service_tier === 'string') this.#serviceTier = chunk.service_tier;
    for (const choice of choices) if (isJsonObject(choice)) this.#readChoice(choice);
    this.#readSources(chunk);
    this.#readUsage(chunk.usage ?? membersOf(chunk.x_groq).usage);
    return this.#writer.take();
  }

  /** The events that were held until the end, and the end. */
  finish(): readonly InferenceEvent[] {
    this.#citeSources();
    this.#writer.endProse(true);
    this.#calls.finish();
    if (this.#audio !== '') {
      const source = { kind: 'inline', mediaType: guessAudioType(this.#audio), data: this.#audio } as const;
      this.#writer.part({ kind: 'media', media: 'audio', source });
    }
    if (!this.#hasStarted) this.#start({});
    const contents = { hasCalls: this.#calls.hasCalls(), hasRefusal: this.#writer.hasRefusal };
    const stopReason = this.#stopSequence === undefined ? decodeStopReason(this.#finishReason, contents) : 'stop-sequence';
    this.#writer.push({
      type: 'finished',
      stopReason,
      ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }),
      ...(this.#finishReason === undefined || isUsualReason(this.#finishReason) ? {} : { stopDetail: this.#finishReason }),
    });
    return this.#writer.take();
  }

  #start({ id, model }: JsonObject): void {
    this.#hasStarted = true;
    const replyId = filledText(id);
    const servedModel = filledText(model);
    this.#writer.push({
      type: 'started',
      ...(replyId === undefined ? {} : { replyId }),
      ...(servedModel === undefined ? {} : { servedModel }),
    });
  }

  #readChoice(choice: JsonObject): void {
    if (!this.#hasChoice) this.#choiceIndex = choice.index;
    this.#hasChoice = true;
    if (choice.index !== this.#choiceIndex) return;
    if (isJsonObject(choice.logprobs)) this.#readLogprobs(choice.logprobs);
    if (isJsonObject(choice.delta)) {
      this.#hasDeltas = true;
      this.#readMessage(choice.delta);
      // Some services repeat the whole message beside every delta.
    } else if (isJsonObject(choice.message) && !this.#hasDeltas) this.#readMessage(choice.message);
    this.#finishReason ??= filledText(choice.finish_reason);
    // vLLM and SGLang report the sequence; for tokens they report a number.
    const sequence = filledText(choice.stop_reason) ?? filledText(choice.matched_stop);
    this.#stopSequence ??= choice.finish_reason === 'stop' ? sequence : undefined;
    this.#readUsage(choice.usage);
  }

  #readLogprobs(logprobs: JsonObject): void {
    const tokens = decodeLogprobs(logprobs);
    if (tokens.length > 0) this.#writer.push({ type: 'logprobs', tokens });
  }

  #readMessage(message: JsonObject): void {
    this.#readReasoning(message);
    this.#readContent(message.content);
    this.#say('refusal', textOf(message.refusal));
    this.#readAudio(message.audio);
    for (const image of objectsOf(message.images)) this.#readImage(image);
    const signature = readThoughtSignature(message);
    if (signature !== undefined) this.#writer.proveText({ origin: this.#reading.proofOrigin, blob: signature });
    for (const annotation of objectsOf(message.annotations)) {
      const citation = decodeAnnotation(annotation);
      if (citation !== undefined) this.#writer.cite(citation);
    }
    this.#readSources(message);
    if (Array.isArray(message.tool_calls)) this.#calls.read(objectsOf(message.tool_calls));
    if (isJsonObject(message.function_call)) this.#calls.readFunctionCall(message.function_call);
  }

  #say(kind: 'text' | 'refusal' | 'reasoning', text: string | undefined): void {
    if (text === undefined || text === '') return;
    this.#calls.settle();
    this.#writer.say(kind, text);
  }

  /** `reasoning_details` separate what the plain members join, so they take precedence. */
  #readReasoning(message: JsonObject): void {
    const details = objectsOf(message.reasoning_details);
    const isTold = details.some((entry) => detailText(entry) !== undefined);
    if (!isTold) this.#say('reasoning', readThoughts(message));
    for (const entry of details) {
      this.#say('reasoning', detailText(entry));
      const proof = takeProof(entry, this.#reading.proofOrigin);
      if (proof !== undefined) this.#writer.prove(proof);
    }
  }

  #readContent(content: JsonValue | undefined): void {
    if (typeof content === 'string') this.#say('text', content);
    else for (const part of objectsOf(content)) this.#readContentPart(part);
  }

  #readContentPart(part: JsonObject): void {
    switch (textOf(part.type) ?? 'text') {
      case 'thinking':
      case 'reasoning':
        // Mistral's reasoning is a nested list of texts.
        for (const piece of objectsOf(part.thinking)) this.#say('reasoning', textOf(piece.text));
        this.#say('reasoning', textOf(part.thinking) ?? textOf(part.text));
        break;
      case 'refusal':
        this.#say('refusal', textOf(part.refusal));
        break;
      case 'image_url':
        this.#readImage(part);
        break;
      default:
        this.#say('text', textOf(part.text));
    }
  }

  #readImage(image: JsonObject): void {
    const url = filledText(membersOf(image.image_url).url);
    if (url === undefined) return;
    const inline = readDataUrl(url);
    this.#calls.settle();
    this.#writer.part({
      kind: 'media',
      media: 'image',
      source: inline === undefined ? { kind: 'url', url } : { kind: 'inline', ...inline },
    });
  }

  /** Speech also has a transcript. The audio itself arrives in pieces and is complete at the end. */
  #readAudio(audio: JsonValue | undefined): void {
    if (!isJsonObject(audio)) return;
    this.#say('text', textOf(audio.transcript));
    this.#audio += textOf(audio.data) ?? '';
  }

  #readSources({ citations, search_results: results }: JsonObject): void {
    // The results have more data than the bare addresses. Each list is complete whenever it arrives.
    if (Array.isArray(results) && results.length > 0) this.#sources = results;
    else if (Array.isArray(citations) && citations.length > 0) this.#sources ??= citations;
  }

  #citeSources(): void {
    for (const entry of Array.isArray(this.#sources) ? this.#sources : []) {
      const citation = decodeSource(entry);
      if (citation?.source.kind === 'url' && !this.#writer.isCited(citation.source.url)) this.#writer.cite(citation);
    }
  }

  /** Reports are cumulative at every position, so the last one with a count applies. */
  #readUsage(raw: JsonValue | undefined): void {
    if (!isJsonObject(raw)) return;
    const report: UsageReport | undefined = decodeUsage(raw, this.#serviceTier);
    if (report === undefined) return;
    if (!report.trustworthy) this.#usageTrustworthy = false;
    if (this.#hasUsage && Object.keys(report.usage).length === 0) return;
    this.#hasUsage = true;
    this.#writer.push({ type: 'usage', usageReport: { ...report, trustworthy: report.trustworthy && this.#usageTrustworthy } });
  }
}
