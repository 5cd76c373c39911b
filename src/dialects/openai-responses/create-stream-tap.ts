import type { UsageReport } from '../../inference/usage.ts';
import type { Frame } from '../../platform/frames.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import type { ErrorInReply, StreamReport, StreamTap } from '../chat-dialect.ts';
import { countItemCharacters } from './output-items.ts';
import { outputItems, readErrorObject, readStopReason, readUsage } from './read-reply.ts';
import { ToolUses } from './tool-uses.ts';

/** Deltas that are not text of the model: audio, and output of a shell. */
const uncountedDeltas = new Set(['response.audio.delta', 'response.shell_call_output_content.delta']);

/** Events without content, or whose part is filled by later deltas. */
const openingEvents = new Set([
  '',
  'error',
  'keepalive',
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.failed',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
]);
/** Items that begin empty. Items of the vendor's tools begin with the tool's action. */
const filledLater = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);

function opensOnly(type: string, event: JsonObject): boolean {
  if (type !== 'response.output_item.added') return openingEvents.has(type);
  return isJsonObject(event.item) && typeof event.item.type === 'string' && filledLater.has(event.item.type);
}

/** Merges a later report over an earlier one, field by field. An absent field keeps its earlier value. */
function mergeReports(earlier: UsageReport | undefined, later: UsageReport | undefined): UsageReport | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  return {
    ...earlier,
    ...later,
    usage: { ...earlier.usage, ...later.usage },
    raw: later.raw ?? earlier.raw,
    trustworthy: earlier.trustworthy && later.trustworthy,
  };
}

/** Follows a stream and collects the facts of its report. */
class ResponseStreamTap {
  #state: StreamReport['state'] = 'open';
  #error: ErrorInReply | undefined;
  #usageReport: UsageReport | undefined;
  #response: JsonObject | undefined;
  #stopReason: string | undefined;
  #hasContent = false;
  #lastSequenceNumber: number | undefined;
  #malformedFrames = 0;
  #deltaCharacters = 0;
  #finalCharacters = 0;
  /** Characters that had passed at the last count of output tokens. */
  #countedCharacters = 0;
  readonly #toolUses = new ToolUses();

  read(frame: Frame): 'forward' {
    // Compatible servers add the end mark of chat completions, which has no meaning here.
    if (frame.data === '' || frame.data === '[DONE]') return 'forward';
    const event = frame.object();
    if (event === undefined) {
      this.#malformedFrames += 1;
      return 'forward';
    }
    const { sequence_number: sequenceNumber } = event;
    if (typeof sequenceNumber === 'number' && Number.isSafeInteger(sequenceNumber) && sequenceNumber >= 0) {
      this.#lastSequenceNumber = Math.max(sequenceNumber, this.#lastSequenceNumber ?? 0);
    }
    const type = typeof event.type === 'string' ? event.type : (frame.event ?? '');
    this.#hasContent ||= !opensOnly(type, event);
    this.#readEvent(type, event);
    return 'forward';
  }

  #readEvent(type: string, event: JsonObject): void {
    if (type.endsWith('.delta')) {
      if (typeof event.delta === 'string' && !uncountedDeltas.has(type)) this.#deltaCharacters += event.delta.length;
      return;
    }
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#readResponse(event.response);
        return;
      case 'response.output_item.done':
        this.#toolUses.add(event.item, typeof event.output_index === 'number' ? `${event.output_index}` : '');
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.#readResponse(event.response);
        if (this.#state === 'open') this.#state = 'complete';
        return;
      case 'response.failed':
        this.#readResponse(event.response);
        this.#fail(isJsonObject(event.response) ? event.response.error : undefined);
        return;
      case 'error':
        // The vendor nests the error, although its specification documents it flat. Servers that follow the
        // specification send it flat.
        this.#fail(event.error ?? event, event);
        return;
    }
    // A server that fails before its first event may send a bare error body as a frame.
    if (type === '' && isJsonObject(event.error)) this.#fail(event.error, event);
  }

  #fail(error: unknown, around?: unknown): void {
    if (this.#state === 'complete') return;
    this.#state = 'failed';
    // The vendor sends `error` and then `response.failed` for the same failure. The first with a message is kept.
    this.#error ??= error === undefined || error === null ? undefined : readErrorObject(error, around);
  }

  #readResponse(response: unknown): void {
    if (!isJsonObject(response)) return;
    this.#response = response;
    this.#stopReason = readStopReason(response) ?? this.#stopReason;
    const items = outputItems(response);
    for (const [index, item] of items.entries()) this.#toolUses.add(item, String(index));
    this.#finalCharacters = items.reduce<number>((sum, item) => sum + countItemCharacters(item), 0);
    const report = readUsage(response, this.#toolUses);
    if (report?.usage.outputTokens !== undefined) this.#countedCharacters = this.#outputCharacters();
    this.#usageReport = mergeReports(this.#usageReport, report);
  }

  #usage(): UsageReport | undefined {
    const report = this.#toolUses.complete(this.#usageReport);
    return report === undefined || this.#outputCharacters() <= this.#countedCharacters ? report : { ...report, outputGoesOn: true };
  }

  /** Servers that send no deltas still repeat everything in the final response. */
  #outputCharacters(): number {
    return Math.max(this.#deltaCharacters, this.#finalCharacters);
  }

  state(): StreamReport['state'] {
    return this.#state;
  }

  hasContent(): boolean {
    return this.#hasContent;
  }

  report(): StreamReport {
    const usageReport = this.#usage();
    const { model, id } = this.#response ?? {};
    const error = this.#error ?? (this.#state === 'failed' ? readErrorObject(undefined) : undefined);
    return {
      state: this.#state,
      malformedFrames: this.#malformedFrames,
      outputCharacters: this.#outputCharacters(),
      ...(usageReport !== undefined && { usageReport }),
      ...(typeof model === 'string' && { servedModel: model }),
      ...(typeof id === 'string' && { replyId: id }),
      ...(this.#stopReason !== undefined && { stopReason: this.#stopReason }),
      ...(error !== undefined && { error }),
      ...(this.#lastSequenceNumber !== undefined && { lastSequenceNumber: this.#lastSequenceNumber }),
      ...(this.#response !== undefined && { partialResponse: this.#response }),
    };
  }
}

/** Every frame is passed unchanged. */
export function createStreamTap(): StreamTap {
  const tap = new ResponseStreamTap();
  return { read: (frame) => tap.read(frame), state: () => tap.state(), hasContent: () => tap.hasContent(), report: () => tap.report() };
}
