import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { ReplyRelay, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import { describeBroken, lastResponse, DeliveredOutput } from './broken-reply.ts';

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
