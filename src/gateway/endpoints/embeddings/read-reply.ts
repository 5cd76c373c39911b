import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { Usage } from '../../../inference/usage.ts';

/** Reads the usage or the error of an upstream's reply. */
export function readEmbeddingsReport(reply: unknown): ReplyReport {
  const { error } = chatDialects['openai-chat'].readReply(reply);
  const { usage, model } = isJsonObject(reply) ? reply : {};
  const report = {
    outputCharacters: 0,
    ...(error === undefined ? {} : { error }),
    ...(typeof model === 'string' ? { servedModel: model } : {}),
  };
  if (!isJsonObject(usage)) return report;
  const tokens = usage['prompt_tokens'];
  const trustworthy = typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0;
  return { ...report, usageReport: { usage: trustworthy ? { inputTokens: tokens } : {}, raw: usage, trustworthy } };
}

/**
 * Converts the vectors of a reply into the requested encoding, because some servers only send numbers. Undefined if it
 * is not an embeddings reply.
 */
export function encodeEmbeddings(reply: unknown, encoding: 'float' | 'base64', requestedModel: string): JsonObject | undefined {
  const data = isJsonObject(reply) ? reply['data'] : undefined;
  if (!isJsonObject(reply) || !Array.isArray(data)) return undefined;
  const items: JsonObject[] = [];
  for (const item of data) {
    const embedding = isJsonObject(item) ? encodeVector(item['embedding'], encoding) : undefined;
    if (!isJsonObject(item) || embedding === undefined) return undefined;
    items.push({ ...item, embedding });
  }
  return { ...reply, data: items, model: requestedModel };
}

/** The reply with the charged usage, if the upstream reported another one. */
export function withChargedUsage(body: JsonObject, { usageReport }: ReplyReport, charged: Usage | undefined): JsonObject {
  if (charged === undefined || charged.inputTokens === usageReport?.usage.inputTokens) return body;
  const { inputTokens = 0 } = charged;
  const usage = isJsonObject(body['usage']) ? body['usage'] : {};
  return { ...body, usage: { ...usage, prompt_tokens: inputTokens, total_tokens: inputTokens } };
}

function encodeVector(value: JsonValue | undefined, encoding: 'float' | 'base64'): JsonValue | undefined {
  if (typeof value === 'string') return encoding === 'base64' ? value : Array.from(decodeVector(value));
  if (!Array.isArray(value) || !value.every((item): item is number => typeof item === 'number')) return undefined;
  if (encoding === 'float') return value;
  const vector = Float32Array.from(value);
  return Buffer.from(vector.buffer).toString('base64');
}

/** Four-byte little-endian numbers: the byte order of all supported machines. */
function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  const whole = new Uint8Array(bytes.subarray(0, bytes.length - (bytes.length % Float32Array.BYTES_PER_ELEMENT)));
  return new Float32Array(whole.buffer);
}

/** The vectors of a reply in the order of the texts; undefined if one is missing. */
export function readVectors({ data }: JsonObject, count: number): readonly Float32Array[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors: Float32Array[] = [];
  for (const [position, item] of data.entries()) {
    const embedding = isJsonObject(item) ? item['embedding'] : undefined;
    const index = isJsonObject(item) && typeof item['index'] === 'number' ? item['index'] : position;
    if (typeof embedding !== 'string') return undefined;
    vectors[index] = decodeVector(embedding);
  }
  return vectors.length === count && !vectors.includes(undefined as never) ? vectors : undefined;
}
