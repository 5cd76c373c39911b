import type { ReplyWriting, StreamPosition } from '../../../dialects/chat-codec.ts';
import type { ChatDialect, DialectEvents, StreamCutter, TapOptions } from '../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { Frame, type StreamEvent, type StreamFraming } from '../../../platform/frames.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { DeliveredCount } from '../../attempts/exchange/client-disconnect.ts';
import { MessageSink, createByteSink, createEventSink } from '../../replies/connection-sink.ts';
import type { ReplySink } from '../../replies/reply-sink.ts';
import type { IncomingCall } from './incoming-call.ts';

/** Writes one stream of neutral events in the pieces that its sink accepts. */
export type PieceWriter<Piece> = {
  readonly write: (events: readonly InferenceEvent[]) => readonly Piece[];
  /** Opens the reply if `write` holds the opening until the first content. */
  readonly open: () => readonly Piece[];
  /** Characters of content that were written. */
  readonly deliveredCharacters: () => number;
  readonly position: () => StreamPosition;
  /** The reply so far as it is stored; absent if nothing is stored. */
  readonly kept?: (() => JsonObject) | undefined;
};

/** How frames pass from an upstream that speaks the client's dialect. */
export type PassingForm<Piece> = {
  readonly pass: (frame: Frame) => Piece;
  /** Passes whole frames in one piece. Absent if each needs a piece of its own. */
  readonly passChunk?: (chunk: Buffer) => Piece;
  /** The white space behind the last frame. */
  readonly rest: (bytes: Buffer) => readonly Piece[];
  readonly createCutter: (options: TapOptions) => StreamCutter<readonly Piece[]>;
};

/** How the client's dialect is written in the pieces that the sink of a chat's reply accepts. */
export type ReplyForm<Piece> = {
  readonly createWriter: (writing: ReplyWriting) => PieceWriter<Piece>;
  /** Absent if nothing can pass through: every reply is then translated. */
  readonly passing?: PassingForm<Piece>;
  /** The dialect's events in some pieces; absent if replies are not stored. */
  readonly eventsOf?: (pieces: readonly Piece[]) => readonly StreamEvent[];
};

const inBytes = (text: string): readonly Buffer[] => (text === '' ? [] : [Buffer.from(text)]);

/** The forms of replies in bytes. A form has no state, so all calls of a dialect share it. */
const byteForms = new WeakMap<ChatDialect, Map<StreamFraming, ReturnType<typeof createByteForm>>>();

function byteFormOf(dialect: ChatDialect, framing: StreamFraming): ReplyForm<Buffer> {
  const forms = byteForms.getOrInsertComputed(dialect, () => new Map());
  return forms.getOrInsertComputed(framing, () => createByteForm(dialect, framing));
}

/** A reply in bytes. Passthrough forwards the received bytes. */
export function createByteForm(
  { codec, createStreamCutter }: ChatDialect,
  framing: StreamFraming,
): ReplyForm<Buffer> & Pick<Required<ReplyForm<Buffer>>, 'passing'> {
  return {
    createWriter: (writing) => {
      const encoder = codec.createEventEncoder(writing, framing);
      const delivered = new DeliveredCount();
      return {
        write: (events) => {
          let text = '';
          for (const event of events) text += delivered.encode(encoder, event);
          return inBytes(text);
        },
        open: () => inBytes(encoder.open?.() ?? ''),
        deliveredCharacters: () => delivered.characters,
        position: encoder.position,
        kept: encoder.kept,
      };
    },
    passing: {
      pass: ({ bytes }) => bytes,
      passChunk: (chunk) => chunk,
      rest: (bytes) => (bytes.length === 0 ? [] : [bytes]),
      createCutter: (options) => {
        const { pass, end } = createStreamCutter(options);
        return { pass, end: (usage) => [end(usage)] };
      },
    },
  };
}

/** A reply in events of its dialect. Passthrough forwards the upstream's own frame, with its bytes. */
export function createEventForm({ createEncoder, createCutter }: DialectEvents): Required<ReplyForm<StreamEvent>> {
  return {
    createWriter: (writing) => {
      const encoder = createEncoder(writing);
      const delivered = new DeliveredCount();
      return {
        write: (events) => events.flatMap((event) => delivered.encode(encoder, event)),
        open: () => [],
        deliveredCharacters: () => delivered.characters,
        position: encoder.position,
        kept: encoder.kept,
      };
    },
    passing: {
      pass: (frame) => frame,
      rest: (bytes) => (bytes.length === 0 ? [] : [new Frame(bytes, undefined, '')]),
      createCutter,
    },
    eventsOf: (events) => events,
  };
}

/** A reply in neutral events, for the gateway itself. Nothing is written, so nothing can pass through. */
export const neutralForm: ReplyForm<InferenceEvent> = {
  createWriter: () => ({
    write: (events) => events,
    open: () => [],
    // The loop counts the characters that its own client receives.
    deliveredCharacters: () => 0,
    position: () => ({ framesSent: 0 }),
  }),
};

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
  return use(byteFormOf(dialect, framing ?? 'sse'), createByteSink(answered));
}
