import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import type { ReplyRelay, StreamRelay } from '../exchange/reply-relay.ts';

/** Keeps a reply that has ended. Resolves when it can be gone on from. */
export type KeepReply = (response: JsonObject) => Promise<void>;

/** A relay whose replies are kept before the client learns that they have ended: who goes on from one at once finds it. */
export function keepReplies(relay: ReplyRelay, keep: KeepReply, isPassthrough: boolean): ReplyRelay {
  let written: JsonObject | undefined;
  return {
    ...relay,
    writeReply: (reply, bytes) => {
      const made = relay.writeReply(reply, bytes);
      written = relay.wholeReply?.() ?? (isPassthrough && isJsonObject(reply) ? reply : parseJsonObject(made.toString()));
      return made;
    },
    kept: () => (written === undefined ? undefined : keep(written)),
    openStream: (limits) => keepStream(relay.openStream(limits), keep),
  };
}

function keepStream(stream: StreamRelay, keep: KeepReply): StreamRelay {
  return {
    ...stream,
    kept: () => {
      const response = stream.wholeReply?.() ?? stream.position().partialResponse;
      return response === undefined ? undefined : keep(response);
    },
  };
}
