import { Frame, type StreamEvent } from '../../platform/frames.ts';
import { formatSse } from '../../platform/sse/encode-sse.ts';
import { type AnsweredCall, ConnectionSink } from './connection-sink.ts';

/** How events become bytes. */
export const ofEvents = { join: joinEvents, sizeOf: sizeOfEvent };

/** A client's connection as the sink of events: frames of an upstream go on byte for byte. */
export function createEventSink(call: AnsweredCall): ConnectionSink<StreamEvent> {
  return new ConnectionSink(call, ofEvents);
}

function sizeOfEvent(event: StreamEvent): number {
  return event instanceof Frame ? event.bytes.length : event.data.length;
}

function joinEvents(events: readonly StreamEvent[]): Buffer {
  const [only] = events;
  if (events.length === 1 && only instanceof Frame) return only.bytes;
  if (events.some((event) => event instanceof Frame))
    return Buffer.concat(events.map((event) => (event instanceof Frame ? event.bytes : Buffer.from(formatSse(event)))));
  return Buffer.from(events.map(formatSse).join(''));
}
