import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { ReplyRelay, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import { describeBroken, lastResponse, ToldOutput } from './broken-reply.ts';

/** Keeps a reply that has ended. Resolves when it can be gone on from. */
export type KeepReply = (response: JsonObject) => Promise<void>;

export type KeptRelay<Piece> = {
  readonly keep: KeepReply;
  /** The events in pieces of a stream; absent where there are no streams. */
  readonly eventsOf: ((pieces: readonly Piece[]) => readonly StreamEvent[]) | undefined;
  readonly isPassthrough: boolean;
};

/** A relay whose replies are kept before the client learns that they have ended: who goes on from one at once finds it. */
export function keepReplies<Piece>(relay: ReplyRelay<Piece>, kept: KeptRelay<Piece>): ReplyRelay<Piece> {
  const { keep, isPassthrough } = kept;
  let written: JsonObject | undefined;
  return {
    ...relay,
    writeReply: (reply, bytes, charged) => {
      const made = relay.writeReply(reply, bytes, charged);
      written = relay.wholeReply?.() ?? (isPassthrough && isJsonObject(reply) ? reply : parseJsonObject(made.toString()));
      return made;
    },
    replay:
      relay.replay &&
      ((reply, bytes, charged) => {
        const pieces = relay.replay?.(reply, bytes, charged) ?? [];
        written = relay.wholeReply?.();
        return pieces;
      }),
    kept: () => (written === undefined ? undefined : keep(written)),
    openStream: (limits, mayBeCut, charged) => keepStream(relay.openStream(limits, mayBeCut, charged), kept),
  };
}

const noEvents = (): readonly StreamEvent[] => [];

function keepStream<Piece>(stream: StreamRelay<Piece>, { keep, eventsOf = noEvents }: KeptRelay<Piece>): StreamRelay<Piece> {
  const told = new ToldOutput();
  let cutShort: JsonObject | undefined;
  return {
    ...stream,
    read: (frame) => {
      const pieces = stream.read(frame);
      told.add(eventsOf(pieces));
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
      // Nobody waits for it: its client has an error, and nothing can go on from it.
      if (partialResponse !== undefined) void keep(describeBroken(partialResponse, told.items(), error));
    },
  };
}
