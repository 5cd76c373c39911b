import type { ReplyWriting } from '../../../../dialects/chat-codec.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { InferenceReply } from '../../../../inference/inference-reply.ts';
import { replayReply } from '../../../../inference/replay-reply.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/**
 * Writes a whole reply for the client. In dialects whose replies are stored, `whole` is the same reply with the parts
 * that the client did not ask for.
 */
export function encodeWhole(
  { codec }: ChatDialect,
  reply: InferenceReply,
  writing: ReplyWriting,
): { readonly reply: JsonObject; readonly whole: JsonObject | undefined } {
  // Two encoders would give the items different ids. So a reply that is stored comes from one stream.
  const encoder = writing.replyId === undefined ? undefined : codec.createEventEncoder(writing, 'sse');
  if (encoder?.kept === undefined) return { reply: codec.encodeReply(reply, writing), whole: undefined };
  for (const event of replayReply(reply)) encoder.write(event);
  return { reply: encoder.position().partialResponse ?? {}, whole: encoder.kept() };
}
