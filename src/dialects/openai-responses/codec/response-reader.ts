import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import { filledText, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { outputItems, readUsage } from '../read-reply.ts';
import { decodeLikelyTokens } from '../../openai-logprobs.ts';
import { ToolUses } from '../tool-uses.ts';
import { decodeAnnotation } from './citations.ts';
import { joinNamespace, wrapCustomInput } from './client-tools.ts';
import { decodeScreenCall } from './screen-tool.ts';
import { decodeEnding } from './stop-reasons.ts';
import { decodeGeneratedImage, decodeServerTool } from './decode-server-tool.ts';

/** A block of the neutral stream, and how much of it has been said: servers repeat the whole at its end, and some say it only there. */
type Block = {
  index: number;
  readonly start: BlockStart;
  begun: boolean;
  said: number;
  citations: number;
  /** How many entries of the list of likely tokens have been read. */
  likely: number;
  ended: boolean;
};

/** What has been said of one output item. */
type Item = {
  readonly type: string;
  readonly id: string | undefined;
  /** Blocks by the index of their content; a call and reasoning have one, at 0. */
  readonly blocks: Map<number, Block>;
  /** Of reasoning: how much of each paragraph has been said, the paragraph that is being said, and which of its two texts is read. */
  readonly paragraphs: Map<number, number>;
  paragraph: number | undefined;
  reasoningFrom: 'summary' | 'content' | undefined;
  /** Arguments that came before the name of their function. */
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

/** Where an event belongs: ids are no help, since some servers give every event another one. */
const placeOf = (event: JsonObject): number | string =>
  typeof event.output_index === 'number' ? event.output_index : (textOf(event.item_id) ?? 'only');

const isCall = (type: string): boolean => type === 'function_call' || type === 'custom_tool_call';

/**
 * Reads a response as it grows, whatever a server leaves out. What is told again at the end of a part, of an item and of the response is
 * compared with what has been said by its length, and only the rest is new.
 */
export class ResponseReader {
  readonly #reading: ReplyReading;
  readonly #places = new Map<number | string, Item>();
  readonly #items: Item[] = [];
  readonly #toolUses = new ToolUses();
  #wholeItems = 0;
  readonly #openTexts = new Set<Block>();
  #events: InferenceEvent[] = [];
  #nextIndex = 0;
  #started = false;
  #hasCalls = false;
  #hasRefusal = false;

  constructor(reading: ReplyReading) {
    this.#reading = reading;
  }

  /** The events since they were last taken. */
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

  /** An item begins. Of a call its name is known now; everything else begins with its first text. */
  addItem(event: JsonObject): void {
    if (!isJsonObject(event.item)) return;
    const item = createItem(textOf(event.item.type) ?? '', textOf(event.item.id));
    const place = placeOf(event);
    const known = this.#places.get(place);
    // Told twice, or told of after its first delta.
    if (known !== undefined && !known.done && known.type === item.type) return this.#beginCall(known, event.item);
    this.#places.set(place, item);
    this.#items.push(item);
    this.#beginCall(item, event.item);
  }

  addText(event: JsonObject, kind: 'text' | 'refusal', text: string): void {
    const block = this.#textBlock(this.#itemAt(event, 'message'), indexOf(event.content_index), kind);
    this.#weigh(block, objectsOf(event.logprobs));
    this.#say(block, text);
  }

  /** The whole text of a part, of which some may have been said. */
  completeText(event: JsonObject, kind: 'text' | 'refusal', text: string): void {
    const block = this.#textBlock(this.#itemAt(event, 'message'), indexOf(event.content_index), kind);
    this.#weigh(block, objectsOf(event.logprobs).slice(block.likely));
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
    else this.#say(block, text);
  }

  completeArguments(event: JsonObject): void {
    const block = this.#itemAt(event, 'function_call').blocks.get(0);
    // Without its name the call waits for the end of its item, where the arguments are told once more.
    if (block !== undefined) this.#complete(block, textOf(event.arguments) ?? '');
  }

  addReasoning(event: JsonObject, from: 'summary' | 'content', text: string): void {
    const paragraph = indexOf(from === 'summary' ? event.summary_index : event.content_index);
    this.#think(this.#itemAt(event, 'reasoning'), from, paragraph, text);
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

  /** Usage as a response tells it, with the searches that were seen. */
  readUsage(response: unknown): void {
    const usageReport = isJsonObject(response) ? readUsage(response, this.#toolUses) : undefined;
    if (usageReport !== undefined) this.#events.push({ type: 'usage', usageReport });
  }

  /** The response is complete: what only its end tells is new, and every block ends. */
  finish(response: JsonObject): void {
    this.start(response);
    const left = new ToldItems(this.#items);
    for (const [index, item] of outputItems(response).entries()) {
      if (isJsonObject(item)) this.#completeItem(left.take(item, this.#places.get(index)) ?? createItemOf(item), item);
    }
    for (const item of this.#items) this.#endItem(item);
    this.readUsage(response);
    this.#events.push({ type: 'finished', ...decodeEnding(response, { hasCalls: this.#hasCalls, hasRefusal: this.#hasRefusal }) });
  }

  #itemAt(event: JsonObject, type: string): Item {
    const place = placeOf(event);
    const known = this.#places.get(place);
    if (known !== undefined && (known.type === type || (isCall(known.type) && isCall(type)))) return known;
    const item = createItem(type, textOf(event.item_id));
    this.#places.set(place, item);
    this.#items.push(item);
    return item;
  }

  #begin(block: Block): void {
    if (block.begun) return;
    this.start(undefined);
    // Where a server does not say that a text has ended, something else that begins says so.
    for (const text of this.#openTexts) this.#end(text);
    block.begun = true;
    block.index = this.#nextIndex++;
    this.#events.push({ type: 'block-started', index: block.index, block: block.start });
    if (block.start.kind === 'text' || block.start.kind === 'refusal') this.#openTexts.add(block);
    if (block.start.kind === 'refusal') this.#hasRefusal = true;
    if (block.start.kind === 'tool-call') this.#hasCalls = true;
  }

  #end(block: Block): void {
    this.#openTexts.delete(block);
    if (!block.begun || block.ended) return;
    block.ended = true;
    this.#events.push({ type: 'block-ended', index: block.index });
  }

  #say(block: Block, text: string): void {
    if (text === '' || block.ended) return;
    this.#begin(block);
    block.said += text.length;
    this.#events.push({ type: 'delta', index: block.index, text });
  }

  #complete(block: Block, whole: string): void {
    if (!block.ended && whole.length > block.said) this.#say(block, whole.slice(block.said));
  }

  /** Tells how likely the tokens of the text were that comes next. */
  #weigh(block: Block, entries: readonly JsonObject[]): void {
    if (block.ended) return;
    block.likely += entries.length;
    const tokens = decodeLikelyTokens(entries);
    if (tokens.length === 0) return;
    this.start(undefined);
    this.#events.push({ type: 'logprobs', tokens });
  }

  #newBlock(item: Item, at: number, start: BlockStart, before: Pick<Block, 'said' | 'citations' | 'likely'> = fresh): Block {
    const { said, citations, likely } = before;
    const block: Block = { index: 0, start, begun: false, said, citations, likely, ended: false };
    item.blocks.set(at, block);
    return block;
  }

  /** The block of a part. Text that goes on after another block has begun is a new one. */
  #textBlock(item: Item, at: number, kind: 'text' | 'refusal'): Block {
    const known = item.blocks.get(at);
    if (known === undefined) return this.#newBlock(item, at, { kind });
    return known.ended && !item.done ? this.#newBlock(item, at, { kind }, known) : known;
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
    this.#weigh(block, objectsOf(part.logprobs).slice(block.likely));
    this.#complete(block, textOf(isRefusal ? part.refusal : part.text) ?? '');
    for (const annotation of objectsOf(part.annotations).slice(block.citations)) this.#cite(block, annotation);
    this.#end(block);
  }

  #beginCall(item: Item, wire: JsonObject): void {
    const name = filledText(wire.name);
    if (!isCall(item.type) || name === undefined || item.blocks.has(0)) return;
    const id = filledText(wire.call_id) ?? filledText(wire.id) ?? this.#reading.newId('call');
    const block = this.#newBlock(item, 0, { kind: 'tool-call', id, name: joinNamespace(textOf(wire.namespace), name) });
    this.#begin(block);
    this.#say(block, item.heldArguments);
  }

  #think(item: Item, from: 'summary' | 'content', paragraph: number, text: string): void {
    item.reasoningFrom ??= from;
    if (text === '' || item.reasoningFrom !== from || item.done) return;
    const block = item.blocks.get(0) ?? this.#newBlock(item, 0, reasoningStart(item.id));
    this.#begin(block);
    if (item.paragraph !== undefined && item.paragraph !== paragraph) this.#events.push({ type: 'paragraph', index: block.index });
    item.paragraph = paragraph;
    item.paragraphs.set(paragraph, (item.paragraphs.get(paragraph) ?? 0) + text.length);
    this.#say(block, text);
  }

  #completeParagraph(item: Item, from: 'summary' | 'content', paragraph: number, whole: string): void {
    const said = item.reasoningFrom === from ? (item.paragraphs.get(paragraph) ?? 0) : 0;
    if (whole.length > said) this.#think(item, from, paragraph, whole.slice(said));
  }

  #completeItem(item: Item, wire: JsonObject): void {
    if (item.done) return;
    if (item.type === 'message') {
      for (const [at, part] of objectsOf(wire.content).entries()) this.#completePart(item, at, part);
    } else if (item.type === 'reasoning') this.#completeThoughts(item, wire);
    else if (isCall(item.type)) this.#completeCall(item, wire);
    else if (item.type === 'computer_call') this.#completeScreenCall(item, wire);
    else this.#addWhole(wire);
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
    this.#beginCall(item, wire);
    const block = item.blocks.get(0);
    if (block === undefined) return;
    this.#complete(block, typeof wire.input === 'string' ? wrapCustomInput(wire.input) : (textOf(wire.arguments) ?? ''));
  }

  /** A use of the screen says everything at once. */
  #completeScreenCall(item: Item, wire: JsonObject): void {
    const { arguments: args, ...call } = decodeScreenCall(wire);
    const block = this.#newBlock(item, 0, { kind: 'tool-call', ...call });
    this.#begin(block);
    this.#say(block, args);
  }

  /** What a tool of the vendor did, or a picture that it made. Items of unknown kinds say nothing. */
  #addWhole(wire: JsonObject): void {
    this.#toolUses.add(wire, String(this.#wholeItems));
    this.#wholeItems += 1;
    const part = decodeServerTool(wire) ?? decodeGeneratedImage(wire);
    if (part === undefined) return;
    this.start(undefined);
    for (const text of this.#openTexts) this.#end(text);
    this.#events.push({ type: 'part', index: this.#nextIndex++, part });
  }
}

const createItemOf = (wire: JsonObject): Item => createItem(textOf(wire.type) ?? '', textOf(wire.id));

/** The items that the stream told of, for the finished response to be compared with. */
class ToldItems {
  readonly #left = new Map<string, Set<Item>>();
  readonly #byId = new Map<string, Item>();

  constructor(items: readonly Item[]) {
    for (const item of items) {
      const alike = this.#left.get(item.type);
      if (alike === undefined) this.#left.set(item.type, new Set([item]));
      else alike.add(item);
      const key = keyOf(item.type, item.id);
      if (!this.#byId.has(key)) this.#byId.set(key, item);
    }
  }

  /** The item that a finished one was told as: by its place, its id, or its kind in order. It is taken once. */
  take(wire: JsonObject, placed: Item | undefined): Item | undefined {
    const type = textOf(wire.type) ?? '';
    const alike = this.#left.get(type);
    if (alike === undefined) return undefined;
    const named = this.#byId.get(keyOf(type, textOf(wire.id)));
    const found = [placed, named].find((item) => item !== undefined && alike.has(item)) ?? alike.values().next().value;
    if (found !== undefined) alike.delete(found);
    return found;
  }
}

const keyOf = (type: string, id: string | undefined): string => `${type} ${id ?? ''}`;

/** Nothing has been said before. */
const fresh = { said: 0, citations: 0, likely: 0 };

const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

const reasoningStart = (itemId: string | undefined): BlockStart => ({ kind: 'reasoning', ...(itemId === undefined ? {} : { itemId }) });
