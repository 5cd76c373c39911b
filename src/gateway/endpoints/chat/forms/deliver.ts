import type { StreamFraming } from '../../../../platform/frames.ts';
import { createByteSink, createEventSink, MessageSink } from '../../../replies/connection-sink.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';
import type { IncomingCall } from '../incoming-call.ts';
import { createByteForm } from './byte-form.ts';
import { createEventForm } from './event-form.ts';
import type { ReplyForm } from './reply-form.ts';

/** Uses the sink of a call's reply and the form that it accepts. */
export type UseDelivery<Result> = <Piece>(form: ReplyForm<Piece>, sink: ReplySink<Piece>) => Result;

/** Finds the sink of a call's reply. A stream is events if the dialect has events, and bytes otherwise. */
export function deliver<Result>(call: IncomingCall, framing: StreamFraming | undefined, use: UseDelivery<Result>): Result {
  const { callId, response, dialect } = call;
  const answered = { callId, response, voice: dialect.voice, framing };
  const { events } = dialect;
  if (framing === 'sse' && events !== undefined) {
    const takeEvents = response.takeEvents?.bind(response);
    return use(
      createEventForm(events),
      takeEvents === undefined ? createEventSink(answered) : new MessageSink({ ...answered, takeEvents, events }),
    );
  }
  return use(createByteForm(dialect, framing ?? 'sse'), createByteSink(answered));
}
