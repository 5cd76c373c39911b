import type { ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { InferenceReply } from '../../../../inference/inference-reply.ts';
import { replayReply } from '../../../../inference/replay-reply.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** A whole reply for the client, and, in dialects whose replies are kept, the same with what the client did not ask to see. */
export function encodeWhole(
  { codec }: ChatDialect,
  reply: InferenceReply,
  writing: ReplyWriting,
): { readonly reply: JsonObject; readonly whole: JsonObject | undefined } {
  // Written twice, the two would name their items differently: where a reply is to be kept they come from one stream.
  const encoder = writing.replyId === undefined ? undefined : codec.createEventEncoder(writing, 'sse');
  if (encoder?.kept === undefined) return { reply: codec.encodeReply(reply, writing), whole: undefined };
  for (const event of replayReply(reply)) encoder.write(event);
  return { reply: encoder.position().partialResponse ?? {}, whole: encoder.kept() };
}
