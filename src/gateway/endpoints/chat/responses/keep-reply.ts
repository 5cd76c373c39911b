import type { ErrorVoice } from '../../../../dialects/error-voice.ts';
import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { ReplyRelay, StreamRelay } from '../../../attempts/exchange/reply-relay.ts';
import { describeBroken, readLastResponse, ToldOutput } from './broken-reply.ts';

/** Keeps a reply that has ended. Resolves when it can be gone on from. */
export type KeepReply = (response: JsonObject) => Promise<void>;

export type KeptRelay = {
  readonly keep: KeepReply;
  readonly voice: Pick<ErrorVoice, 'encodeStreamError'>;
  readonly isPassthrough: boolean;
};

/** A relay whose replies are kept before the client learns that they have ended: who goes on from one at once finds it. */
export function keepReplies(relay: ReplyRelay, kept: KeptRelay): ReplyRelay {
  const { keep, isPassthrough } = kept;
  let written: JsonObject | undefined;
  return {
    ...relay,
    writeReply: (reply, bytes, charged) => {
      const made = relay.writeReply(reply, bytes, charged);
      written = relay.wholeReply?.() ?? (isPassthrough && isJsonObject(reply) ? reply : parseJsonObject(made.toString()));
      return made;
    },
    kept: () => (written === undefined ? undefined : keep(written)),
    openStream: (limits, mayBeCut, charged) => keepStream(relay.openStream(limits, mayBeCut, charged), kept),
  };
}

function keepStream(stream: StreamRelay, { keep, voice }: KeptRelay): StreamRelay {
  const told = new ToldOutput();
  let cutShort: JsonObject | undefined;
  return {
    ...stream,
    read: (frame) => {
      const bytes = stream.read(frame);
      if (bytes !== undefined) told.add(bytes);
      return bytes;
    },
    cut: (usage) => {
      const bytes = stream.cut(usage);
      cutShort = readLastResponse(bytes);
      return bytes;
    },
    kept: () => {
      const response = cutShort ?? stream.wholeReply?.() ?? stream.position().partialResponse;
      return response === undefined ? undefined : keep(response);
    },
    broke: (error) => {
      const { partialResponse } = stream.position();
      // Nobody waits for it: its client has an error, and nothing can go on from it.
      if (partialResponse !== undefined) void keep(describeBroken(voice, partialResponse, told.items(), error));
    },
  };
}
