import { GatewayError } from '../../../../../inference/gateway-error.ts';
import { filledText, itemsOf, membersOf, textOf } from '../../../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../../platform/json/json-value.ts';

/** Refuses a part of a request. @throws GatewayError `invalid_value` */
export function refuse(path: string, problem: string): never {
  throw new GatewayError('invalid_value', `${path}: ${problem}`, { param: path });
}

/**
 * Reads a list of blocks, of which each has one member. A cache point marks the block before it.
 * Source: ContentBlock, SystemContentBlock and Tool of the Bedrock API reference.
 */
export function openList(
  list: JsonValue | undefined,
  path: string,
  open: (kind: string, value: JsonObject, path: string) => JsonObject,
): readonly JsonObject[] {
  if (!Array.isArray(list)) return refuse(path, 'must be a list');
  const opened: JsonObject[] = [];
  for (const [index, item] of itemsOf(list).entries()) {
    const at = `${path}.${index}`;
    const [[kind, value] = ['', undefined], ...others] = Object.entries(membersOf(item));
    if (kind === '' || others.length > 0) return refuse(at, 'must be an object with one member, such as text');
    if (kind === 'text') opened.push(open(kind, { text: value }, `${at}.text`));
    else if (!isJsonObject(value)) return refuse(`${at}.${kind}`, 'must be an object');
    else if (kind === 'cachePoint') markLast(opened, value, `${at}.cachePoint`);
    else opened.push(open(kind, value, `${at}.${kind}`));
  }
  return opened;
}

function markLast(opened: JsonObject[], { type, ttl }: JsonObject, path: string): void {
  const last = opened.pop();
  if (last === undefined) return refuse(path, 'must follow the content that it marks');
  if (type !== 'default') return refuse(`${path}.type`, 'must be "default"');
  opened.push({ ...last, cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } });
}

/** A text block. Its value is checked as that of Messages. */
export const openText = ({ text }: JsonObject): JsonObject => ({ type: 'text', text });

/** A block of a turn as Messages has it. */
export function openBlock(kind: string, value: JsonObject, path: string): JsonObject {
  switch (kind) {
    case 'text':
      return openText(value);
    case 'image':
      return openImage(value, path);
    case 'document':
      return openDocument(value, path);
    case 'toolUse':
      return { type: 'tool_use', id: value.toolUseId, name: value.name, input: value.input };
    case 'toolResult':
      return openResult(value, path);
    case 'reasoningContent':
      return openReasoning(value, path);
    case 'guardContent':
      return refuse(path, 'guardrails are chosen by the operator of this gateway; send it as text');
    default:
      return refuse(path, 'this gateway takes text, image, document, toolUse, toolResult, reasoningContent and cachePoint');
  }
}

function openImage({ format, source }: JsonObject, path: string): JsonObject {
  return { type: 'image', source: { type: 'base64', media_type: `image/${textOf(format) ?? ''}`, data: bytesOf(source, path) } };
}

function bytesOf(source: JsonValue | undefined, path: string): string {
  const { bytes, s3Location } = membersOf(source);
  if (s3Location !== undefined) return refuse(`${path}.source.s3Location`, 'this gateway reads no objects of S3; send source.bytes');
  return filledText(bytes) ?? refuse(`${path}.source.bytes`, 'must be base64');
}

const plainFormats = ['txt', 'md', 'csv', 'html'];

function openDocument({ name, format, source, context, citations }: JsonObject, path: string): JsonObject {
  return {
    type: 'document',
    source: openSource(format, membersOf(source), path),
    ...(name === undefined ? {} : { title: name }),
    ...(context === undefined ? {} : { context }),
    ...(citations === undefined ? {} : { citations }),
  };
}

function openSource(format: JsonValue | undefined, source: JsonObject, path: string): JsonObject {
  const { text, content } = source;
  if (typeof text === 'string') return { type: 'text', media_type: 'text/plain', data: text };
  if (content !== undefined) return { type: 'content', content: openList(content, `${path}.source.content`, openBlock) };
  const data = bytesOf(source, path);
  if (format === 'pdf') return { type: 'base64', media_type: 'application/pdf', data };
  if (plainFormats.includes(textOf(format) ?? ''))
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString() };
  return refuse(`${path}.format`, `must be pdf, ${plainFormats.join(', ')} here; send other documents as text`);
}

function openResult({ toolUseId, content, status }: JsonObject, path: string): JsonObject {
  const blocks = openList(content, `${path}.content`, (kind, value, at) =>
    kind === 'json' ? { type: 'text', text: JSON.stringify(value) } : openBlock(kind, value, at),
  );
  return { type: 'tool_result', tool_use_id: toolUseId, content: blocks, ...(status === 'error' ? { is_error: true } : {}) };
}

function openReasoning({ reasoningText, redactedContent }: JsonObject, path: string): JsonObject {
  if (redactedContent !== undefined) return { type: 'redacted_thinking', data: redactedContent };
  const { text, signature } = membersOf(reasoningText);
  if (typeof text !== 'string') return refuse(`${path}.reasoningText.text`, 'must be a text');
  return { type: 'thinking', thinking: text, signature: signature ?? '' };
}
