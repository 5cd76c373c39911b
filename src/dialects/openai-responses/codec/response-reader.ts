import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import { filledText, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { outputItems, readUsage } from '../read-reply.ts';
import { decodeTokenLogprobs } from '../../openai-logprobs.ts';
import { ToolUses } from '../tool-uses.ts';
import { decodeAnnotation } from './citations.ts';
import { joinNamespace, wrapCustomInput } from './client-tools.ts';
import { decodeScreenCall } from './screen-tool.ts';
import { decodeEnding } from './stop-reasons.ts';
import { decodeGeneratedImage, decodeServerTool } from './decode-server-tool.ts';

/**
 * A block of the neutral stream, with how much of it has been emitted. Servers repeat the fullText text at the end, and
 * some send it only there.
 */
type Block = {
  index: number;
  readonly start: BlockStart;
  started: boolean;
  emitted: number;
  citations: number;
  /** The number of log probabilities read so far. */
  logprobsRead: number;
  ended: boolean;
};

/** The state of one output item. */
type Item = {
  readonly type: string;
  readonly id: string | undefined;
  /** Blocks by content index. A call and reasoning have one, at 0. */
  readonly blocks: Map<number, Block>;
  /**
   * For reasoning: the emitted characters of each paragraph, the open paragraph, and which of the two texts is read.
   */
  readonly paragraphs: Map<number, number>;
  paragraph: number | undefined;
  reasoningFrom: 'summary' | 'content' | undefined;
  /** Arguments that arrived before the name of their function. */
  heldArguments: string;
  done: boolean;
};

const createItem = (type: string, id: string | undefined): Item => ({
  type,
  id,
  blocks: new Map(),
  paragraphs: new Map(),
  paragraph: undefined,
  reasoningFrom: undefined,
  heldArguments: '',
  done: false,
});

/** The position of an event's item. Ids are unreliable, because some servers send a different one in every event. */
const positionOf = (event: JsonObject): number | string =>
  typeof event.output_index === 'number' ? event.output_index : (textOf(event.item_id) ?? 'only');

const isCall = (type: string): boolean => type === 'function_call' || type === 'custom_tool_call';

/**
 * Reads a response while it grows, even if a server omits events. Text that is repeated at the end of a part, an item
 * or the response is compared by length with the emitted text, and only the rest is new.
 */
export class ResponseReader {
  readonly #reading: ReplyReading;
  readonly #byPosition = new Map<number | string, Item>();
  readonly #items: Item[] = [];
  readonly #toolUses = new ToolUses();
  #otherItems = 0;
  readonly #openTexts = new Set<Block>();
  #events: InferenceEvent[] = [];
  #nextIndex = 0;
  #started = false;
  #hasCalls = false;
  #hasRefusal = false;

  constructor(reading: ReplyReading) {
    this.#reading = reading;
  }

  /** Returns the events since the last call. */
  take(): readonly InferenceEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  start(response: unknown): void {
    if (this.#started) return;
    this.#started = true;
    const { id, model } = isJsonObject(response) ? response : {};
    const replyId = filledText(id);
    const servedModel = filledText(model);
    this.#events.push({
      type: 'started',
      ...(replyId === undefined ? {} : { replyId }),
      ...(servedModel === undefined ? {} : { servedModel }),
    });
  }

  /** An item begins. A call has its name now; everything else begins with its first text. */
  addItem(event: JsonObject): void {
    if (!isJsonObject(event.item)) return;
    const item = createItem(textOf(event.item.type) ?? '', textOf(event.item.id));
    const position = positionOf(event);
    const existing = this.#byPosition.get(position);
    // Announced twice, or after its first delta.
    if (existing !== undefined && !existing.done && existing.type === item.type) return this.#openToolCall(existing, event.item);
    this.#byPosition.set(position, item);
    this.#items.push(item);
    this.#openToolCall(item, event.item);
  }

  addText(event: JsonObject, kind: 'text' | 'refusal', text: string): void {
    const block = this.#textBlock(this.#itemAt(event, 'message'), indexOf(event.content_index), kind);
    this.#emitLogprobs(block, objectsOf(event.logprobs));
    this.#emit(block, text);
  }

  /** Receives the full text of a part, of which a beginning may have been emitted. */
  completeText(event: JsonObject, kind: 'text' | 'refusal', text: string): void {
    const block = this.#textBlock(this.#itemAt(event, 'message'), indexOf(event.content_index), kind);
    this.#emitLogprobs(block, objectsOf(event.logprobs).slice(block.logprobsRead));
    this.#complete(block, text);
  }

  addAnnotation(event: JsonObject): void {
    if (!isJsonObject(event.annotation)) return;
    this.#cite(this.#textBlock(this.#itemAt(event, 'message'), indexOf(event.content_index), 'text'), event.annotation);
  }

  completePart(event: JsonObject): void {
    if (!isJsonObject(event.part) || event.part.type === 'reasoning_text') return;
    this.#completePart(this.#itemAt(event, 'message'), indexOf(event.content_index), event.part);
  }

  addArguments(event: JsonObject, text: string): void {
    const item = this.#itemAt(event, 'function_call');
    const block = item.blocks.get(0);
    if (block === undefined) item.heldArguments += text;
    else this.#emit(block, text);
  }

  completeArguments(event: JsonObject): void {
    const block = this.#itemAt(event, 'function_call').blocks.get(0);
    // Without its name the call waits for the end of its item, which repeats the arguments.
    if (block !== undefined) this.#complete(block, textOf(event.arguments) ?? '');
  }

  addReasoning(event: JsonObject, from: 'summary' | 'content', text: string): void {
    const paragraph = indexOf(from === 'summary' ? event.summary_index : event.content_index);
    this.#emitReasoning(this.#itemAt(event, 'reasoning'), from, paragraph, text);
  }

  completeReasoning(event: JsonObject, from: 'summary' | 'content', text: string): void {
    const paragraph = indexOf(from === 'summary' ? event.summary_index : event.content_index);
    this.#completeParagraph(this.#itemAt(event, 'reasoning'), from, paragraph, text);
  }

  completeItem(event: JsonObject): void {
    if (!isJsonObject(event.item)) return;
    const type = textOf(event.item.type) ?? '';
    this.#completeItem(this.#itemAt(event, type), event.item);
  }

  /** Reads the usage of a response and adds the tool uses of the stream. */
  readUsage(response: unknown): void {
    const usageReport = isJsonObject(response) ? readUsage(response, this.#toolUses) : undefined;
    if (usageReport !== undefined) this.#events.push({ type: 'usage', usageReport });
  }

  /** The response is complete. Content that only its last event has is emitted, and every block ends. */
  finish(response: JsonObject): void {
    this.start(response);
    const unmatched = new UnmatchedItems(this.#items);
    for (const [index, item] of outputItems(response).entries()) {
      if (isJsonObject(item)) this.#completeItem(unmatched.take(item, this.#byPosition.get(index)) ?? createItemOf(item), item);
    }
    for (const item of this.#items) this.#endItem(item);
    this.readUsage(response);
    this.#events.push({ type: 'finished', ...decodeEnding(response, { hasCalls: this.#hasCalls, hasRefusal: this.#hasRefusal }) });
  }

  #itemAt(event: JsonObject, type: string): Item {
    const position = positionOf(event);
    const existing = this.#byPosition.get(position);
    if (existing !== undefined && (existing.type === type || (isCall(existing.type) && isCall(type)))) return existing;
    const item = createItem(type, textOf(event.item_id));
    this.#byPosition.set(position, item);
    this.#items.push(item);
    return item;
  }

  #begin(block: Block): void {
    if (block.started) return;
    this.start(undefined);
    // If a server does not end a text, the next block ends it.
    for (const text of this.#openTexts) this.#end(text);
    block.started = true;
    block.index = this.#nextIndex++;
    this.#events.push({ type: 'block-started', index: block.index, block: block.start });
    if (block.start.kind === 'text' || block.start.kind === 'refusal') this.#openTexts.add(block);
    if (block.start.kind === 'refusal') this.#hasRefusal = true;
    if (block.start.kind === 'tool-call') this.#hasCalls = true;
  }

  #end(block: Block): void {
    this.#openTexts.delete(block);
    if (!block.started || block.ended) return;
    block.ended = true;
    this.#events.push({ type: 'block-ended', index: block.index });
  }

  #emit(block: Block, text: string): void {
    if (text === '' || block.ended) return;
    this.#begin(block);
    block.emitted += text.length;
    this.#events.push({ type: 'delta', index: block.index, text });
  }

  #complete(block: Block, fullText: string): void {
    if (!block.ended && fullText.length > block.emitted) this.#emit(block, fullText.slice(block.emitted));
  }

  /** Emits the log probabilities of the text that follows. */
  #emitLogprobs(block: Block, entries: readonly JsonObject[]): void {
    if (block.ended) return;
    block.logprobsRead += entries.length;
    const tokens = decodeTokenLogprobs(entries);
    if (tokens.length === 0) return;
    this.start(undefined);
    this.#events.push({ type: 'logprobs', tokens });
  }

  #newBlock(item: Item, at: number, start: BlockStart, before: Pick<Block, 'emitted' | 'citations' | 'logprobsRead'> = fresh): Block {
    const { emitted, citations, logprobsRead } = before;
    const block: Block = { index: 0, start, started: false, emitted, citations, logprobsRead, ended: false };
    item.blocks.set(at, block);
    return block;
  }

  /** The block of a part. Text that continues after another block has started is a new block. */
  #textBlock(item: Item, at: number, kind: 'text' | 'refusal'): Block {
    const existing = item.blocks.get(at);
    if (existing === undefined) return this.#newBlock(item, at, { kind });
    return existing.ended && !item.done ? this.#newBlock(item, at, { kind }, existing) : existing;
  }

  #cite(block: Block, annotation: JsonObject): void {
    if (block.ended) return;
    block.citations += 1;
    const citation = decodeAnnotation(annotation);
    if (citation === undefined) return;
    this.#begin(block);
    this.#events.push({ type: 'citation', index: block.index, citation });
  }

  #completePart(item: Item, at: number, part: JsonObject): void {
    if (part.type !== 'output_text' && part.type !== 'refusal') return;
    const isRefusal = part.type === 'refusal';
    const block = this.#textBlock(item, at, isRefusal ? 'refusal' : 'text');
    this.#emitLogprobs(block, objectsOf(part.logprobs).slice(block.logprobsRead));
    this.#complete(block, textOf(isRefusal ? part.refusal : part.text) ?? '');
    for (const annotation of objectsOf(part.annotations).slice(block.citations)) this.#cite(block, annotation);
    this.#end(block);
  }

  #openToolCall(item: Item, wire: JsonObject): void {
    const name = filledText(wire.name);
    if (!isCall(item.type) || name === undefined || item.blocks.has(0)) return;
    const id = filledText(wire.call_id) ?? filledText(wire.id) ?? this.#reading.newId('call');
    const block = this.#newBlock(item, 0, { kind: 'tool-call', id, name: joinNamespace(textOf(wire.namespace), name) });
    this.#begin(block);
    this.#emit(block, item.heldArguments);
  }

  #emitReasoning(item: Item, from: 'summary' | 'content', paragraph: number, text: string): void {
    item.reasoningFrom ??= from;
    if (text === '' || item.reasoningFrom !== from || item.done) return;
    const block = item.blocks.get(0) ?? this.#newBlock(item, 0, reasoningStart(item.id));
    this.#begin(block);
    if (item.paragraph !== undefined && item.paragraph !== paragraph) this.#events.push({ type: 'paragraph', index: block.index });
    item.paragraph = paragraph;
    item.paragraphs.set(paragraph, (item.paragraphs.get(paragraph) ?? 0) + text.length);
    this.#emit(block, text);
  }

  #completeParagraph(item: Item, from: 'summary' | 'content', paragraph: number, fullText: string): void {
    const emitted = item.reasoningFrom === from ? (item.paragraphs.get(paragraph) ?? 0) : 0;
    if (fullText.length > emitted) this.#emitReasoning(item, from, paragraph, fullText.slice(emitted));
  }

  #completeItem(item: Item, wire: JsonObject): void {
    if (item.done) return;
    if (item.type === 'message') {
      for (const [at, part] of objectsOf(wire.content).entries()) this.#completePart(item, at, part);
    } else if (item.type === 'reasoning') this.#completeThoughts(item, wire);
    else if (isCall(item.type)) this.#completeCall(item, wire);
    else if (item.type === 'computer_call') this.#completeScreenCall(item, wire);
    else this.#addOtherItem(wire);
    this.#endItem(item);
  }

  #endItem(item: Item): void {
    item.done = true;
    for (const block of item.blocks.values()) this.#end(block);
  }

  #completeThoughts(item: Item, wire: JsonObject): void {
    for (const from of ['summary', 'content'] as const) {
      for (const [at, part] of objectsOf(wire[from]).entries()) this.#completeParagraph(item, from, at, textOf(part.text) ?? '');
    }
    const blob = filledText(wire.encrypted_content);
    if (blob === undefined) return;
    const block = item.blocks.get(0) ?? this.#newBlock(item, 0, reasoningStart(item.id));
    this.#begin(block);
    this.#events.push({ type: 'proof', index: block.index, proof: { origin: this.#reading.proofOrigin, blob } });
  }

  #completeCall(item: Item, wire: JsonObject): void {
    this.#openToolCall(item, wire);
    const block = item.blocks.get(0);
    if (block === undefined) return;
    this.#complete(block, typeof wire.input === 'string' ? wrapCustomInput(wire.input) : (textOf(wire.arguments) ?? ''));
  }

  /** A screen call is complete in one item. */
  #completeScreenCall(item: Item, wire: JsonObject): void {
    const { arguments: args, ...call } = decodeScreenCall(wire);
    const block = this.#newBlock(item, 0, { kind: 'tool-call', ...call });
    this.#begin(block);
    this.#emit(block, args);
  }

  /** A tool run of the vendor, or an image that it generated. Items of unknown kinds have no content. */
  #addOtherItem(wire: JsonObject): void {
    this.#toolUses.add(wire, String(this.#otherItems));
    this.#otherItems += 1;
    const part = decodeServerTool(wire) ?? decodeGeneratedImage(wire);
    if (part === undefined) return;
    this.start(undefined);
    for (const text of this.#openTexts) this.#end(text);
    this.#events.push({ type: 'part', index: this.#nextIndex++, part });
  }
}

const createItemOf = (wire: JsonObject): Item => createItem(textOf(wire.type) ?? '', textOf(wire.id));

/** The items of the stream, which are matched with those of the finished response. */
class UnmatchedItems {
  readonly #unmatched = new Map<string, Set<Item>>();
  readonly #byId = new Map<string, Item>();

  constructor(items: readonly Item[]) {
    for (const item of items) {
      const alike = this.#unmatched.get(item.type);
      if (alike === undefined) this.#unmatched.set(item.type, new Set([item]));
      else alike.add(item);
      const key = keyOf(item.type, item.id);
      if (!this.#byId.has(key)) this.#byId.set(key, item);
    }
  }

  /**
   * The stream's item for a finished one, by its index, its id, or the order within its type. Each is returned once.
   */
  take(wire: JsonObject, placed: Item | undefined): Item | undefined {
    const type = textOf(wire.type) ?? '';
    const alike = this.#unmatched.get(type);
    if (alike === undefined) return undefined;
    const named = this.#byId.get(keyOf(type, textOf(wire.id)));
    const match = [placed, named].find((item) => item !== undefined && alike.has(item)) ?? alike.values().next().value;
    if (match !== undefined) alike.delete(match);
    return match;
  }
}

const keyOf = (type: string, id: string | undefined): string => `${type} ${id ?? ''}`;

/** Nothing has been emitted before. */
const fresh = { emitted: 0, citations: 0, logprobsRead: 0 };

const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

const reasoningStart = (itemId: string | undefined): BlockStart => ({ kind: 'reasoning', ...(itemId === undefined ? {} : { itemId }) });
