import { type JsonObject, isJsonObject } from '../../../../platform/json/json-value.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { ReplyRelay, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import { describeStreamError } from '../../../../dialects/openai-responses/encode-stream-error.ts';
import { PartialOutput } from '../../../../dialects/openai-responses/partial-output.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import { objectOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';

/** Stores a reply that has ended. Resolves when it can be continued. */
export type KeepReply = (response: JsonObject) => Promise<void>;

export type StoredReplyRelay<Piece> = {
  readonly keep: KeepReply;
  /** The events in pieces of a stream. Undefined: there are no streams. */
  readonly eventsOf: ((pieces: readonly Piece[]) => readonly StreamEvent[]) | undefined;
  readonly isPassthrough: boolean;
};

/** A relay that stores replies before the client receives their end, so that the client can continue them at once. */
export function keepReplies<Piece>(relay: ReplyRelay<Piece>, options: StoredReplyRelay<Piece>): ReplyRelay<Piece> {
  const { keep, isPassthrough } = options;
  let written: JsonObject | undefined;
  return {
    ...relay,
    writeReply: (reply, bytes, charged) => {
      const bytesOut = relay.writeReply(reply, bytes, charged);
      written = relay.wholeReply?.() ?? (isPassthrough && isJsonObject(reply) ? reply : parseJsonObject(bytesOut.toString()));
      return bytesOut;
    },
    replay:
      relay.replay &&
      ((reply, bytes, charged) => {
        const pieces = relay.replay?.(reply, bytes, charged) ?? [];
        written = relay.wholeReply?.();
        return pieces;
      }),
    kept: () => (written === undefined ? undefined : keep(written)),
    openStream: (limits, mayBeCut, charged) => keepStream(relay.openStream(limits, mayBeCut, charged), options),
  };
}

const noEvents = (): readonly StreamEvent[] => [];

function keepStream<Piece>(stream: StreamRelay<Piece>, { keep, eventsOf = noEvents }: StoredReplyRelay<Piece>): StreamRelay<Piece> {
  const delivered = new DeliveredOutput();
  let cutShort: JsonObject | undefined;
  return {
    ...stream,
    read: (frame) => {
      const pieces = stream.read(frame);
      delivered.add(eventsOf(pieces));
      return pieces;
    },
    cut: (usage) => {
      const pieces = stream.cut(usage);
      cutShort = lastResponse(eventsOf(pieces));
      return pieces;
    },
    kept: () => {
      const response = cutShort ?? stream.wholeReply?.() ?? stream.position().partialResponse;
      return response === undefined ? undefined : keep(response);
    },
    broke: (error) => {
      const { partialResponse } = stream.position();
      // Nothing waits for this: the client has an error, and the response cannot be continued.
      if (partialResponse !== undefined) void keep(describeBroken(partialResponse, delivered.items(), error));
    },
  };
}

/**
 * Characters of a stream that are kept unparsed. Most replies are short, end well, and are never parsed a second time.
 */
const unparsedUsually = 65_536;

/** The output that a stream has delivered to its client. It is needed only if the stream breaks. */
export class DeliveredOutput {
  readonly #output = new PartialOutput();
  #unparsed: StreamEvent[] = [];
  #characters = 0;
  readonly #unparsedMax: number;

  /** @param unparsedMax characters of the stream that are kept unparsed */
  constructor(unparsedMax = unparsedUsually) {
    this.#unparsedMax = unparsedMax;
  }

  add(events: readonly StreamEvent[]): void {
    for (const event of events) {
      this.#unparsed.push(event);
      this.#characters += event.data.length;
    }
    if (this.#characters > this.#unparsedMax) this.#parse();
  }

  #parse(): void {
    for (const event of this.#unparsed) {
      const object = event.object();
      const type = textOf(object?.type);
      if (object !== undefined && type !== undefined) this.#output.read(type, object);
    }
    this.#unparsed = [];
    this.#characters = 0;
  }

  items(): readonly JsonObject[] {
    this.#parse();
    return this.#output.items();
  }
}

/**
 * A response whose stream broke after the client had received its beginning: failed, with the error and the output so
 * far.
 * @param begun the response as its stream had introduced it
 */
export function describeBroken(begun: JsonObject, output: readonly JsonObject[], error: GatewayError): JsonObject {
  if (begun.status === 'failed') return objectsOf(begun.output).length > 0 ? begun : { ...begun, output };
  const ending = describeStreamError(error, { framesSent: 0, partialResponse: begun });
  return { ...begun, status: 'failed', ...lastResponse(ending), output };
}

/** The response in the last of some events, if that event has one. */
function lastResponse(events: readonly StreamEvent[]): JsonObject | undefined {
  return objectOf(events.at(-1)?.object()?.response);
}
