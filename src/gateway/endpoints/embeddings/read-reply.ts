import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { Usage } from '../../../inference/usage.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';

/** An upstream's embeddings: what goes to the client, and what it says of its usage. */
export type EmbeddingsReply = { readonly body: JsonObject; readonly report: ReplyReport };

/**
 * Reads an upstream's reply and brings its vectors into the encoding that was asked for: some servers know only numbers, and clients that asked for
 * base64 would read those as garbage. Undefined for what is no such reply.
 */
export function readEmbeddingsReply(bytes: Buffer, encoding: 'float' | 'base64', requestedModel: string): EmbeddingsReply | undefined {
  const reply = parseJsonObject(bytes);
  const data = reply?.['data'];
  if (reply === undefined || !Array.isArray(data)) return undefined;
  const items: JsonObject[] = [];
  for (const item of data) {
    const embedding = isJsonObject(item) ? encodeVector(item['embedding'], encoding) : undefined;
    if (!isJsonObject(item) || embedding === undefined) return undefined;
    items.push({ ...item, embedding });
  }
  return { body: { ...reply, data: items, model: requestedModel }, report: readReport(reply) };
}

/** The same reply with what is charged for it, where that is not what its upstream reported. */
export function tellCharged({ body, report }: EmbeddingsReply, { inputTokens = 0 }: Usage): EmbeddingsReply {
  const usage = isJsonObject(body['usage']) ? body['usage'] : {};
  return { body: { ...body, usage: { ...usage, prompt_tokens: inputTokens, total_tokens: inputTokens } }, report };
}

function readReport({ usage, model }: JsonObject): ReplyReport {
  const served = typeof model === 'string' ? { servedModel: model } : {};
  if (!isJsonObject(usage)) return { outputCharacters: 0, ...served };
  const tokens = usage['prompt_tokens'];
  const trustworthy = typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0;
  return { outputCharacters: 0, ...served, usageReport: { usage: trustworthy ? { inputTokens: tokens } : {}, raw: usage, trustworthy } };
}

function encodeVector(value: JsonValue | undefined, encoding: 'float' | 'base64'): JsonValue | undefined {
  if (typeof value === 'string') return encoding === 'base64' ? value : Array.from(decodeVector(value));
  if (!Array.isArray(value) || !value.every((item): item is number => typeof item === 'number')) return undefined;
  if (encoding === 'float') return value;
  const vector = Float32Array.from(value);
  return Buffer.from(vector.buffer).toString('base64');
}

/** Little-endian numbers of four bytes, as all machines have them that this runs on. */
function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  const whole = new Uint8Array(bytes.subarray(0, bytes.length - (bytes.length % Float32Array.BYTES_PER_ELEMENT)));
  return new Float32Array(whole.buffer);
}

/** The vectors of a reply by the places of their texts; undefined where it does not have all of them. */
export function readVectors({ data }: JsonObject, count: number): readonly Float32Array[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors: Float32Array[] = [];
  for (const [place, item] of data.entries()) {
    const embedding = isJsonObject(item) ? item['embedding'] : undefined;
    const index = isJsonObject(item) && typeof item['index'] === 'number' ? item['index'] : place;
    if (typeof embedding !== 'string') return undefined;
    vectors[index] = decodeVector(embedding);
  }
  return vectors.length === count && !vectors.includes(undefined as never) ? vectors : undefined;
}
