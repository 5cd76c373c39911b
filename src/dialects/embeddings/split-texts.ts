import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';

/**
 * Splits a checked request of OpenAI's form into requests of at most so many texts. A list of tokens is one text.
 * @param textsMax absent: any number
 */
export function splitTexts(body: JsonObject, textsMax = Infinity): readonly JsonObject[] {
  const { input } = body;
  if (!Array.isArray(input) || typeof input[0] === 'number' || input.length <= textsMax) return [body];
  const texts = input as readonly JsonValue[];
  return Array.from({ length: Math.ceil(texts.length / textsMax) }, (_, part) => ({
    ...body,
    input: texts.slice(part * textsMax, (part + 1) * textsMax),
  }));
}

/** Joins the replies to all parts, in their order. `readEmbeddingsReply` reads the result. */
export function joinReplies(replies: readonly Buffer[]): Buffer {
  const pieces = replies.flatMap((reply, part) => [Buffer.from(part === 0 ? '{"replies":[' : ','), reply]);
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}
