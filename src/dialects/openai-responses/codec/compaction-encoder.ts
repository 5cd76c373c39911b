import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import { StreamEvent } from '../../../platform/frames.ts';
import { siblingId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { CompactionWriting, ReplyWriting, StreamEventEncoder, StreamPosition } from '../../chat-codec.ts';
import { retainedMessages, writeCompactionItem } from '../compaction.ts';
import { encodeUsage } from './encode-usage.ts';
import { describeProgress, echoRequest } from './response-object.ts';
import { encodeEnding, type ResponseEnding } from './stop-reasons.ts';

/**
 * Writes the reply to a compaction: the model's text is the summary, which is encrypted. Reasoning and calls are not
 * part of it.
 */
class CompactionWriter {
  readonly #writing: ReplyWriting;
  readonly #compaction: CompactionWriting;
  readonly #id: string;
  readonly #texts = new Set<number>();
  #summary = '';
  #model: string;
  #sequenceNumber = 0;
  #usageReport: UsageReport | undefined;
  #item: JsonObject | undefined;
  #end: ResponseEnding | undefined;
  #completedAtMs: number | undefined;

  constructor(writing: ReplyWriting, compaction: CompactionWriting) {
    this.#writing = writing;
    this.#compaction = compaction;
    this.#id = writing.replyId ?? siblingId(writing.requestId, 'resp') ?? writing.newId('resp');
    this.#model = writing.requestedModel;
  }

  write(event: InferenceEvent): readonly StreamEvent[] {
    switch (event.type) {
      case 'started':
        this.#model = event.servedModel ?? this.#model;
        return [this.#sendResponse('response.created'), this.#sendResponse('response.in_progress')];
      case 'block-started':
        if (event.block.kind === 'text') this.#texts.add(event.index);
        return [];
      case 'delta':
        if (this.#texts.has(event.index)) this.#summary += event.text;
        return [];
      case 'logprobs':
        return [];
      case 'usage':
        this.#usageReport = event.usageReport;
        return [];
      case 'finished':
        return this.#finish(event);
      case 'block-ended':
      case 'paragraph':
      case 'proof':
      case 'citation':
      case 'tool-outcome':
      case 'partial-image':
      case 'part':
        return [];
    }
  }

  #finish(event: Extract<InferenceEvent, { type: 'finished' }>): readonly StreamEvent[] {
    const summary = this.#summary.trim();
    this.#end = encodeEnding(summary === '' ? { stopReason: 'failed', stopDetail: noSummary } : event, true);
    if (this.#end.status === 'completed') this.#completedAtMs = this.#writing.nowMs();
    if (summary === '') return [this.#sendResponse('response.failed')];
    const id = this.#writing.newId('cmp');
    const item = (this.#item = writeCompactionItem(id, this.#compaction.seal(summary)));
    const added = this.#send('response.output_item.added', { output_index: 0, item: writeCompactionItem(id, '') });
    const done = this.#send('response.output_item.done', { output_index: 0, item });
    return [added, done, this.#sendResponse(`response.${this.#end.status}`)];
  }

  #send(type: string, members: JsonObject): StreamEvent {
    return new StreamEvent(type, JSON.stringify({ type, sequence_number: this.#sequenceNumber++, ...members }));
  }

  #sendResponse(type: string): StreamEvent {
    return this.#send(type, { response: this.response() });
  }

  position(): StreamPosition {
    const sent = this.#sequenceNumber;
    return { framesSent: sent, ...(sent > 0 ? { lastSequenceNumber: sent - 1, partialResponse: this.response() } : {}) };
  }

  response(): JsonObject {
    const output = this.#item === undefined ? [] : [this.#item];
    const ending = { usageReport: this.#usageReport, completedAtMs: this.#completedAtMs };
    const running = { id: this.#id, model: this.#model, writing: this.#writing, output, ...ending };
    return { ...describeProgress({ ...running, ...(this.#end === undefined ? {} : { end: this.#end }) }), ...echoRequest(this.#writing) };
  }

  /** The answer of `POST /v1/responses/compact`: the user's own messages, and the item that replaces the rest. */
  compacted(): JsonObject {
    const { input } = this.#compaction;
    return {
      id: this.#id,
      object: 'response.compaction',
      created_at: Math.floor(this.#writing.createdAtMs / 1000),
      output: [...retainedMessages(input, this.#writing.newId), ...(this.#item === undefined ? [] : [this.#item])],
      usage: this.#usageReport === undefined ? null : encodeUsage(this.#usageReport.usage),
    };
  }
}

const noSummary = 'the model wrote no summary of the conversation';

/** Writes the stream of a compaction. */
export function createCompactionEncoder(writing: ReplyWriting, compaction: CompactionWriting): StreamEventEncoder {
  const writer = new CompactionWriter(writing, compaction);
  return {
    write: (event) => writer.write(event),
    position: () => writer.position(),
    ...(compaction.form === 'response' && { kept: () => writer.response() }),
  };
}

/** Writes the whole reply of a compaction. */
export function encodeCompaction(reply: InferenceReply, writing: ReplyWriting, compaction: CompactionWriting): JsonObject {
  const writer = new CompactionWriter(writing, compaction);
  for (const event of replayReply(reply)) writer.write(event);
  return compaction.form === 'response' ? writer.response() : writer.compacted();
}
