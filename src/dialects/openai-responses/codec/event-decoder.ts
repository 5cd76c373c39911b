import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { Frame } from '../../../platform/frames.ts';
import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EventDecoder, ReplyReading } from '../../chat-codec.ts';
import { ResponseReader } from './response-reader.ts';

const nothing: readonly InferenceEvent[] = [];

function parseEvent(frame: Frame): JsonObject | undefined {
  if (frame.data === '' || frame.data === '[DONE]') return undefined;
  // The tap counts malformed frames.
  return frame.object();
}

function readDelta(reader: ResponseReader, type: string, event: JsonObject): void {
  const text = textOf(event.delta);
  if (text === undefined) return;
  switch (type) {
    case 'response.output_text.delta':
      return reader.addText(event, 'text', text);
    case 'response.refusal.delta':
      return reader.addText(event, 'refusal', text);
    case 'response.function_call_arguments.delta':
      return reader.addArguments(event, text);
    case 'response.reasoning_summary_text.delta':
      return reader.addReasoning(event, 'summary', text);
    case 'response.reasoning_text.delta':
      return reader.addReasoning(event, 'content', text);
  }
}

function readEvent(reader: ResponseReader, type: string, event: JsonObject): void {
  switch (type) {
    case 'response.created':
    case 'response.queued':
    case 'response.in_progress':
      return reader.start(event.response);
    case 'response.output_item.added':
      return reader.addItem(event);
    case 'response.output_text.annotation.added':
      return reader.addAnnotation(event);
    case 'response.output_text.done':
      return reader.completeText(event, 'text', textOf(event.text) ?? '');
    case 'response.refusal.done':
      return reader.completeText(event, 'refusal', textOf(event.refusal) ?? '');
    case 'response.content_part.done':
      return reader.completePart(event);
    case 'response.function_call_arguments.done':
      return reader.completeArguments(event);
    case 'response.reasoning_summary_text.done':
      return reader.completeReasoning(event, 'summary', textOf(event.text) ?? '');
    case 'response.reasoning_summary_part.done':
      return reader.completeReasoning(event, 'summary', textOf(membersOf(event.part).text) ?? '');
    case 'response.reasoning_text.done':
      return reader.completeReasoning(event, 'content', textOf(event.text) ?? '');
    case 'response.output_item.done':
      return reader.completeItem(event);
  }
}

/** The status of each event that ends a response. It is used if the response has no status. */
const endStatus: Readonly<Record<string, string>> = { 'response.completed': 'completed', 'response.incomplete': 'incomplete' };

/**
 * Reads the vendor's stream, and streams of servers that imitate it. A failed response has no end, because the tap
 * reports its error.
 */
export function createEventDecoder(reading: ReplyReading): EventDecoder {
  const reader = new ResponseReader(reading);
  let ended = false;
  const read = (frame: Frame): readonly InferenceEvent[] => {
    const event = ended ? undefined : parseEvent(frame);
    if (event === undefined) return nothing;
    const type = textOf(event.type) ?? frame.event ?? '';
    if (type.endsWith('.delta')) readDelta(reader, type, event);
    else if (Object.hasOwn(endStatus, type)) {
      ended = true;
      const response = membersOf(event.response);
      reader.finish({ ...response, status: response.status ?? endStatus[type] });
    } else if (type === 'response.failed') {
      ended = true;
      reader.start(event.response);
      reader.readUsage(event.response);
    } else readEvent(reader, type, event);
    return reader.take();
  };
  return { read, end: () => nothing };
}
