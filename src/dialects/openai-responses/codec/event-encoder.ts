import type { BlockStart, InferenceEvent } from '../../../inference/inference-event.ts';
import type { MediaPart, ServerToolPart } from '../../../inference/inference-request.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { StreamEvent } from '../../../platform/frames.ts';
import { siblingId } from '../../../platform/ids.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting, StreamEventEncoder, StreamPosition } from '../../chat-codec.ts';
import { encodeAnnotations } from './citations.ts';
import { writePartialImage } from './image-generation-tool.ts';
import { ownReasoningPrefix, showItem } from '../show-item.ts';
import { PendingLogprobs } from './logprobs.ts';
import { describeProgress, echoRequest } from './response-object.ts';
import { encodeEnding, type ResponseEnding } from './stop-reasons.ts';
import type { OpenBlock, OpenCall, OpenItem, OpenMessage, OpenReasoning, OpenTool } from './open-item.ts';
import * as items from './write-items.ts';
import * as serverTools from './write-server-tools.ts';

const emptyText = '"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}';
const emptyRefusal = '"part":{"type":"refusal","refusal":""}';
const emptySummary = '"part":{"type":"summary_text","text":""}';

/** Writes the events of one response and collects the response that they add up to. */
export class ResponseWriter {
  readonly #writing: ReplyWriting;
  readonly #options: items.ItemOptions;
  readonly #echo: JsonObject;
  readonly #echoText: string;
  readonly #id: string;
  readonly #output: JsonObject[] = [];
  /** The complete output, including data that the client did not request. */
  readonly #stored: JsonObject[] = [];
  #model: string;
  #started = false;
  #sequenceNumber = 0;
  /** Events that `write` has not returned yet. */
  #pending: StreamEvent[] = [];
  #item: OpenItem | undefined;
  #block: OpenBlock | undefined;
  #hasRefusal = false;
  readonly #logprobs: PendingLogprobs;
  #usageReport: UsageReport | undefined;
  #end: ResponseEnding | undefined;
  #completedAtMs: number | undefined;

  constructor(writing: ReplyWriting) {
    this.#writing = writing;
    this.#options = items.readItemOptions(writing);
    this.#logprobs = new PendingLogprobs(this.#options.shown);
    this.#echo = echoRequest(writing);
    this.#echoText = JSON.stringify(this.#echo).slice(1);
    this.#id = writing.replyId ?? siblingId(writing.requestId, 'resp') ?? writing.newId('resp');
    this.#model = writing.requestedModel;
  }

  /** The events for a neutral event. */
  write(event: InferenceEvent): readonly StreamEvent[] {
    this.#read(event);
    const events = this.#pending;
    if (events.length > 0) this.#pending = [];
    return events;
  }

  #read(event: InferenceEvent): void {
    switch (event.type) {
      case 'started':
        return this.#start(event.servedModel);
      case 'block-started':
        return this.#startBlock(event.block);
      case 'delta':
        return this.#block === undefined ? undefined : this.#addText(this.#block, event.text);
      case 'paragraph':
        return this.#block?.item?.kind === 'reasoning' ? this.#endParagraph(this.#block, this.#block.item) : undefined;
      case 'proof':
        if (this.#block !== undefined) this.#block.proof = event.proof;
        return;
      case 'citation':
        return void this.#block?.citations.push(event.citation);
      case 'block-ended':
        return this.#endBlock();
      case 'part':
        return event.part.kind === 'server-tool' ? this.#writeTool(event.part) : this.#writeMedia(event.part);
      case 'tool-outcome':
        return this.#block?.item?.kind === 'tool' ? this.#endTool(this.#block.item, event.part) : this.#writeTool(event.part);
      case 'partial-image':
        if (this.#block?.item?.kind !== 'tool') return;
        return this.#sendSteps(this.#block.item.tool.id, [
          ['image_generation_call.partial_image', writePartialImage(event.number, event.image)],
        ]);
      case 'logprobs':
        return this.#logprobs.read(event.tokens);
      case 'usage':
        this.#usageReport = event.usageReport;
        return;
      case 'finished':
        return this.#finish(event);
    }
  }

  position(): StreamPosition {
    const sent = this.#sequenceNumber;
    return { framesSent: sent, ...(this.#started ? { lastSequenceNumber: sent - 1, partialResponse: this.response() } : {}) };
  }

  /** The response so far. */
  response(): JsonObject {
    return { ...this.#progress(), ...this.#echo };
  }

  /** The response as it is stored, including data that the client did not request. */
  kept(): JsonObject {
    return { ...this.#progress(), ...this.#echo, output: this.#stored };
  }

  #progress(): JsonObject {
    const end = this.#end === undefined ? {} : { end: this.#end };
    const running = { id: this.#id, model: this.#model, writing: this.#writing, output: this.#output };
    return describeProgress({ ...running, ...end, usageReport: this.#usageReport, completedAtMs: this.#completedAtMs });
  }

  /** Adds an event. `members` is JSON text without braces that follows the number. */
  #send(type: string, members: string): void {
    this.#pending.push(new StreamEvent(type, `{"type":"${type}","sequence_number":${this.#sequenceNumber++},${members}}`));
  }

  #sendResponse(type: string): void {
    // The repeated request, above all its tools, is by far the largest part. It is serialized once.
    this.#send(type, `"response":${JSON.stringify(this.#progress()).slice(0, -1)},${this.#echoText}`);
  }

  #sendItem(step: 'added' | 'done', item: JsonObject): void {
    this.#send(`response.output_item.${step}`, `"output_index":${this.#output.length},"item":${JSON.stringify(item)}`);
  }

  /** An event of the open item, which follows all completed items. */
  #sendAt(type: string, itemId: string, members: string): void {
    this.#send(type, `"item_id":${JSON.stringify(itemId)},"output_index":${this.#output.length}${members}`);
  }

  #start(servedModel: string | undefined): void {
    this.#started = true;
    this.#model = servedModel ?? this.#model;
    this.#sendResponse('response.created');
    this.#sendResponse('response.in_progress');
  }

  #startBlock(start: BlockStart): void {
    const block: OpenBlock = { kind: start.kind, text: '', item: undefined, partOpen: false, citations: [], proof: undefined };
    this.#block = block;
    if (start.kind === 'server-tool') return this.#startTool(block, start);
    if (start.kind !== 'tool-call') return;
    this.#closeItem('completed');
    const call = items.openToolCall(start, this.#options);
    block.item = this.#item = { kind: 'call', call, text: '', proof: undefined };
    // A screen action is written at once, when it is complete.
    if (call.kind !== 'screen') this.#sendItem('added', items.writeCallItem(call, 'in_progress', ''));
  }

  #startTool(block: OpenBlock, start: Extract<BlockStart, { kind: 'server-tool' }>): void {
    this.#closeItem('completed');
    const tool = serverTools.openServerTool(start, this.#options);
    if (tool === undefined) return;
    block.item = this.#item = { kind: 'tool', tool };
    this.#sendOpened(tool);
  }

  #sendOpened(tool: serverTools.OpenServerTool): void {
    this.#sendItem('added', serverTools.writeOpenTool(tool));
    this.#sendSteps(tool.id, serverTools.startSteps(tool));
  }

  #sendSteps(itemId: string, steps: readonly (readonly [step: string, members: string])[]): void {
    for (const [step, members] of steps) this.#sendAt(`response.${step}`, itemId, members);
  }

  #addText(block: OpenBlock, text: string): void {
    if (!block.partOpen && block.kind !== 'tool-call' && block.kind !== 'server-tool') this.#openPart(block);
    block.text += text;
    const { item } = block;
    const delta = `,"delta":${JSON.stringify(text)}`;
    switch (item?.kind) {
      case 'message': {
        const at = `,"content_index":${item.content.length}${delta}`;
        if (block.kind === 'refusal') return this.#sendAt('response.refusal.delta', item.id, at);
        return this.#sendAt('response.output_text.delta', item.id, `${at},"logprobs":${this.#logprobs.take()}`);
      }
      case 'reasoning':
        return this.#sendAt('response.reasoning_summary_text.delta', item.id, `,"summary_index":${item.paragraphs.length}${delta}`);
      case 'call':
        // Half a JSON object cannot be parsed, so the input of a custom tool is sent at once.
        return item.call.kind === 'function' ? this.#sendAt('response.function_call_arguments.delta', item.call.id, delta) : undefined;
      case 'tool':
        return this.#sendSteps(item.tool.id, serverTools.writeCode(item.tool, text));
      case undefined:
    }
  }

  /** Opens the part or paragraph that receives its first text, and its item if that is new. */
  #openPart(block: OpenBlock): void {
    block.partOpen = true;
    if (block.kind === 'reasoning') {
      const { id, paragraphs } = this.#openReasoning(block);
      return this.#sendAt('response.reasoning_summary_part.added', id, `,"summary_index":${paragraphs.length},${emptySummary}`);
    }
    const { id, content } = this.#openMessage(block);
    const part = block.kind === 'refusal' ? emptyRefusal : emptyText;
    this.#sendAt('response.content_part.added', id, `,"content_index":${content.length},${part}`);
  }

  /** Consecutive texts are parts of the same message. */
  #openMessage(block: OpenBlock): OpenMessage {
    if (this.#item?.kind === 'message') {
      block.item = this.#item;
      return this.#item;
    }
    this.#closeItem('completed');
    const item: OpenMessage = { kind: 'message', id: this.#options.newId('msg'), content: [] };
    block.item = this.#item = item;
    this.#sendItem('added', items.writeMessageItem(item, 'in_progress'));
    return item;
  }

  /** Each reasoning block is an item of its own, because a proof belongs to one of them. */
  #openReasoning(block: OpenBlock): OpenReasoning {
    if (block.item?.kind === 'reasoning') return block.item;
    this.#closeItem('completed');
    const item: OpenReasoning = { kind: 'reasoning', id: this.#options.newId(ownReasoningPrefix), paragraphs: [], proof: undefined };
    block.item = this.#item = item;
    this.#sendItem('added', items.writeReasoningItem(item.id, [], undefined));
    return item;
  }

  #endBlock(): void {
    const block = this.#block;
    this.#block = undefined;
    if (block === undefined) return;
    if (block.kind === 'reasoning') return this.#endReasoning(block);
    if (block.item?.kind === 'call') return this.#endCall(block, block.item);
    // The tool was interrupted and has no outcome.
    if (block.item?.kind === 'tool') return this.#item === block.item ? this.#closeItem('incomplete') : undefined;
    if (block.item?.kind === 'message') this.#endMessagePart(block, block.item);
  }

  #endParagraph(block: OpenBlock, item: OpenReasoning): void {
    if (!block.partOpen) return;
    const text = JSON.stringify(block.text);
    const at = `,"summary_index":${item.paragraphs.length}`;
    this.#sendAt('response.reasoning_summary_text.done', item.id, `${at},"text":${text}`);
    this.#sendAt('response.reasoning_summary_part.done', item.id, `${at},"part":{"type":"summary_text","text":${text}}`);
    item.paragraphs.push(block.text);
    block.text = '';
    block.partOpen = false;
  }

  #endReasoning(block: OpenBlock): void {
    if (block.item?.kind === 'reasoning') this.#endParagraph(block, block.item);
    if (block.proof === undefined) return;
    if (block.item?.kind !== 'reasoning' && !this.#options.shown.has('reasoning.encrypted_content')) {
      this.#stored.push(items.writeReasoningItem(this.#options.newId(ownReasoningPrefix), [], block.proof));
      return;
    }
    this.#openReasoning(block).proof = block.proof;
  }

  #endCall(block: OpenBlock, item: OpenCall): void {
    const { call } = item;
    item.text = items.wordArguments(call, block.text);
    item.proof = block.proof;
    const text = JSON.stringify(item.text);
    if (call.kind === 'screen') return this.#sendItem('added', items.writeCallItem(call, 'in_progress', item.text));
    if (call.kind === 'custom') {
      if (item.text !== '') this.#sendAt('response.custom_tool_call_input.delta', call.id, `,"delta":${text}`);
      return this.#sendAt('response.custom_tool_call_input.done', call.id, `,"input":${text}`);
    }
    if (block.text === '') this.#sendAt('response.function_call_arguments.delta', call.id, `,"delta":${text}`);
    const name = JSON.stringify(call.name);
    this.#sendAt('response.function_call_arguments.done', call.id, `,"name":${name},"arguments":${text}`);
  }

  #endMessagePart(block: OpenBlock, item: OpenMessage): void {
    const at = `,"content_index":${item.content.length}`;
    const text = JSON.stringify(block.text);
    if (block.kind === 'refusal') {
      const part = { type: 'refusal', refusal: block.text };
      this.#hasRefusal = true;
      this.#sendAt('response.refusal.done', item.id, `${at},"refusal":${text}`);
      this.#sendAt('response.content_part.done', item.id, `${at},"part":${JSON.stringify(part)}`);
      item.content.push(part);
      return;
    }
    const annotations = encodeAnnotations(block, this.#writing.notes);
    const part = { type: 'output_text', text: block.text, annotations, logprobs: this.#logprobs.end() };
    for (const [index, annotation] of annotations.entries()) {
      const members = `${at},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`;
      this.#sendAt('response.output_text.annotation.added', item.id, members);
    }
    this.#sendAt('response.output_text.done', item.id, `${at},"text":${text},"logprobs":${JSON.stringify(part.logprobs)}`);
    this.#sendAt('response.content_part.done', item.id, `${at},"part":${JSON.stringify(part)}`);
    item.content.push(part);
  }

  /** Ends the open item. The proof of a call follows the call. */
  #closeItem(status: 'completed' | 'incomplete'): void {
    const item = this.#item;
    this.#item = undefined;
    switch (item?.kind) {
      case undefined:
        return;
      case 'message':
        return this.#addOutput(items.writeMessageItem(item, status));
      case 'reasoning':
        return this.#addOutput(items.writeReasoningItem(item.id, item.paragraphs, item.proof));
      case 'call': {
        this.#addOutput(items.writeCallItem(item.call, status, item.text));
        if (item.proof === undefined) return;
        const proof = items.writeCallProofItem(item.proof, item.call.callId, this.#options);
        if (!this.#options.shown.has('reasoning.encrypted_content')) return void this.#stored.push(proof);
        this.#sendItem('added', proof);
        return this.#addOutput(proof);
      }
      case 'tool': {
        const { steps, item: written } = serverTools.endTool(item.tool, undefined);
        this.#sendSteps(item.tool.id, steps);
        return this.#addOutput(written);
      }
    }
  }

  #addOutput(item: JsonObject): void {
    const shown = showItem(item, this.#options.shown);
    this.#sendItem('done', shown);
    this.#output.push(shown);
    this.#stored.push(item);
  }

  /** Writes the outcome of a tool and completes its item. */
  #endTool(open: OpenTool, outcome: ServerToolPart): void {
    if (this.#item !== open) return;
    this.#item = undefined;
    const [first = outcome, ...others] = serverTools.splitPages(outcome);
    const { steps, item } = serverTools.endTool(open.tool, first);
    this.#sendSteps(open.tool.id, steps);
    this.#addOutput(item);
    for (const part of others) this.#writeTool(part);
  }

  /** Writes a tool run at once. */
  #writeTool(part: ServerToolPart): void {
    const native = serverTools.nativeItems(part);
    if (native !== undefined) return native.forEach((item) => this.#writeWhole(item));
    this.#closeItem('completed');
    const wasWritten = serverTools.splitPages(part).map((piece) => {
      const start = { kind: 'server-tool', tool: piece.tool, id: piece.id, input: piece.input } as const;
      const tool = start.tool === 'other' ? undefined : serverTools.openServerTool({ ...start, tool: start.tool }, this.#options);
      if (tool === undefined) return false;
      this.#sendOpened(tool);
      const { steps, item } = serverTools.endTool(tool, piece);
      this.#sendSteps(tool.id, steps);
      this.#addOutput(item);
      return true;
    });
    if (wasWritten.includes(false)) this.#noteMissing(part.kind);
  }

  #writeMedia(part: MediaPart): void {
    const item = items.writeImageItem(part, this.#options);
    if (item !== undefined) return this.#writeWhole(item);
    this.#noteMissing(part.kind);
    this.#closeItem('completed');
  }

  #noteMissing(kind: string): void {
    this.#writing.notes.adapted({ path: 'output', otherwise: 'turns' }, `a part of the kind '${kind}' has no item in this interface`);
  }

  #writeWhole(item: JsonObject): void {
    this.#closeItem('completed');
    this.#sendItem('added', items.beginWholeItem(item));
    this.#sendSteps(textOf(item.id) ?? '', items.wordSteps(item));
    this.#addOutput(item);
  }

  #finish(event: Extract<InferenceEvent, { type: 'finished' }>): void {
    const end = encodeEnding(event, this.#hasRefusal);
    this.#closeItem(end.status === 'incomplete' ? 'incomplete' : 'completed');
    this.#end = end;
    if (end.status === 'completed') this.#completedAtMs = this.#writing.nowMs();
    this.#sendResponse(`response.${end.status}`);
  }
}

/** Writes the client's stream, from `response.created` to its final event. */
export function createStreamEventEncoder(writing: ReplyWriting): StreamEventEncoder {
  const writer = new ResponseWriter(writing);
  return { write: (event) => writer.write(event), position: () => writer.position(), kept: () => writer.kept() };
}
