import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { MaskCounts, MaskText } from '../masking/mask-text.ts';
import { decodeChatReply, decodeChatRequest } from './decode-chat.ts';
import { userMessage } from './describe-messages.ts';
import type { RecordedBody, RecordedCall, RecordedFacts } from './recorded-call.ts';
import { markBytes, withoutBytes } from './without-bytes.ts';

/** A recorded call as sinks receive it: one line of JSON Lines. */
export type ContentRecord = JsonObject & {
  readonly id: string;
  readonly at: string;
  readonly user: string;
  readonly user_id: string;
};

/** The content of a call before it is masked. */
type Content = {
  readonly system_instructions?: JsonValue;
  readonly input_messages?: JsonValue;
  readonly tool_definitions?: JsonValue;
  readonly output_messages?: JsonValue;
  readonly request?: JsonValue;
  readonly reply?: JsonValue;
};

/** Content that was left out, and why. */
type LeftOut = { readonly part: 'request' | 'reply'; readonly bytes: number; readonly reason: 'too-large' | 'bytes' | 'not-readable' };

/** Members of requests that are text for a model: of embeddings, images, speech, moderations and rerank. */
const promptMembers = ['input', 'prompt', 'query', 'documents', 'instructions', 'text'] as const;

/**
 * Makes the record of a call: decodes its bodies by its dialect, removes bytes, and masks. Pure; it takes time, so it
 * runs in a thread.
 */
export function makeRecord(call: RecordedCall, mask: MaskText): ContentRecord {
  const leftOut: LeftOut[] = [];
  const content = { ...readRequest(call, leftOut), ...readReply(call, leftOut) };
  const counts: MaskCounts = {};
  const isMasked = call.mode === 'masked';
  const shown = isMasked ? maskMembers(content, mask, counts) : content;
  const tags = call.facts.tags;
  return {
    ...describeFacts(call.facts),
    mode: call.mode,
    ...(isMasked ? { masked: counts } : {}),
    ...(tags === undefined ? {} : { tags: isMasked ? maskMembers(tags, mask, counts) : tags }),
    ...shown,
    ...(leftOut.length === 0 ? {} : { left_out: leftOut }),
  };
}

function describeFacts(facts: RecordedFacts): Pick<ContentRecord, 'id' | 'at' | 'user' | 'user_id'> & JsonObject {
  return {
    id: facts.id,
    at: new Date(facts.atMs).toISOString(),
    duration_ms: facts.durationMs,
    user: facts.user,
    user_id: facts.userId,
    key: facts.key,
    key_id: facts.keyId,
    team: facts.team,
    interface: facts.interface,
    operation: facts.operation,
    provider: facts.provider,
    upstream: facts.upstream,
    requested_model: facts.requestedModel,
    served_model: facts.servedModel,
    end: facts.end,
    status: facts.status,
    error: facts.error,
    stream: facts.stream,
    usage: facts.usage,
    trace_id: facts.traceId,
    span_id: facts.spanId,
  };
}

function readRequest({ chat, request }: RecordedCall, leftOut: LeftOut[]): Content {
  if (request === undefined) return {};
  if (isCut(request)) {
    leftOut.push({ part: 'request', bytes: request.bytesTotal, reason: 'too-large' });
    return {};
  }
  const body = parseBody(request);
  if (!isJsonObject(body)) {
    leftOut.push({ part: 'request', bytes: request.bytesTotal, reason: 'not-readable' });
    return {};
  }
  const described = chat === undefined ? undefined : decodeChatRequest(chat, body);
  if (described === undefined) {
    const texts = promptMembers.flatMap((name) => textsOf(body[name]));
    return { ...(texts.length === 0 ? {} : { input_messages: [userMessage(texts)] }), request: withoutBytes(body) };
  }
  const { systemInstructions, inputMessages, toolDefinitions } = described;
  return {
    ...(systemInstructions.length === 0 ? {} : { system_instructions: systemInstructions }),
    input_messages: inputMessages,
    ...(toolDefinitions.length === 0 ? {} : { tool_definitions: toolDefinitions }),
  };
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  return value.filter((entry) => typeof entry === 'string');
}

function readReply({ chat, reply, facts }: RecordedCall, leftOut: LeftOut[]): Content {
  if (reply === undefined) return {};
  const output = chat === undefined || (facts.status ?? 200) >= 300 ? undefined : decodeChatReply(chat, reply);
  if (output !== undefined) {
    if (isCut(reply)) leftOut.push({ part: 'reply', bytes: reply.bytesTotal, reason: 'too-large' });
    return { output_messages: [output] };
  }
  if (isCut(reply)) {
    leftOut.push({ part: 'reply', bytes: reply.bytesTotal, reason: 'too-large' });
    return {};
  }
  if (!/json|text|event-stream/.test(reply.mediaType)) {
    leftOut.push({ part: 'reply', bytes: reply.bytesTotal, reason: 'bytes' });
    return { reply: { media_type: reply.mediaType, ...markBytes(reply.bytes) } };
  }
  const body = parseBody(reply);
  const text = isJsonObject(body) && typeof body.text === 'string' ? body.text : undefined;
  return {
    ...(text === undefined ? {} : { output_messages: [{ ...userMessage([text]), role: 'assistant', finish_reason: 'stop' }] }),
    reply: withoutBytes(body ?? Buffer.from(reply.bytes).toString('utf8')),
  };
}

function isCut({ bytes, bytesTotal }: RecordedBody): boolean {
  return bytesTotal > bytes.length;
}

function parseBody({ bytes }: RecordedBody): JsonValue | undefined {
  try {
    return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch {
    return undefined;
  }
}

/** Masks all texts of a value, also names of members and numbers that are written like a card's or a telephone's. */
function maskValue(value: JsonValue, mask: MaskText, counts: MaskCounts): JsonValue {
  if (typeof value === 'string') return mask(value, counts);
  if (typeof value === 'number') {
    const text = String(value);
    const masked = mask(text, counts);
    return masked === text ? value : masked;
  }
  if (Array.isArray(value)) return value.map((entry: JsonValue) => maskValue(entry, mask, counts));
  return isJsonObject(value) ? maskMembers(value, mask, counts) : value;
}

function maskMembers(members: JsonObject, mask: MaskText, counts: MaskCounts): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      // A digest of bytes is not a text.
      if (value === undefined || name === 'sha256') return [name, value];
      // A value is also read together with its name, because some names say that it is a secret.
      if (typeof value === 'string' && isSecretName(name, mask)) {
        counts['credential'] = (counts['credential'] ?? 0) + 1;
        return [name, '[credential]'];
      }
      return [mask(name, counts), maskValue(value, mask, counts)];
    }),
  );
}

/** Whether the value of a member of this name is a credential, whatever its form. */
function isSecretName(name: string, mask: MaskText): boolean {
  return name.length <= 100 && mask(`${name}: xxxxxxxx`).endsWith(': [credential]');
}
