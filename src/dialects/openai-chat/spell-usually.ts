import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { membersOf, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonSpan } from '../../platform/json/json-span.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import { listElements, listMembers, locateJson } from '../../platform/json/locate-json.ts';

/** The name of a schema that its client did not name. */
const schemaName = 'answer';

const isBareCall = (call: JsonObject): boolean =>
  isJsonObject(call.function) && (call.type === undefined || call.type === null || isJsonObject(call.function.arguments));

const isBareImage = (part: JsonObject): boolean => part.type === 'image_url' && typeof part.image_url === 'string';

const needsSpelling = (message: JsonObject): boolean =>
  objectsOf(message.tool_calls).some(isBareCall) || objectsOf(message.content).some(isBareImage);

/**
 * The edits that convert a request with the forms of one service to one that every server accepts. These forms are tool
 * calls without a type or with arguments as an object, an image address as text, and a schema without a name. Other
 * requests need none.
 */
export function spellUsually(body: JsonObject, bytes: Buffer): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  const messages = Array.isArray(body.messages) ? body.messages : [];
  if (messages.some((message) => isJsonObject(message) && needsSpelling(message))) {
    const spans = elementsAt(bytes, locateJson(bytes, ['messages']));
    for (const [at, message] of messages.entries()) {
      const span = spans[at];
      if (span !== undefined && isJsonObject(message) && needsSpelling(message)) edits.push(...spellMessage(message, bytes, span));
    }
  }
  return [...edits, ...nameSchema(body, bytes)];
}

const elementsAt = (bytes: Buffer, span: JsonSpan | undefined): readonly JsonSpan[] =>
  span === undefined ? [] : listElements(bytes, span);

const memberAt = (bytes: Buffer, span: JsonSpan | undefined, key: string): JsonSpan | undefined =>
  span === undefined ? undefined : listMembers(bytes, span).find((member) => member.key === key)?.valueSpan;

function spellMessage(message: JsonObject, bytes: Buffer, span: JsonSpan): readonly JsonEdit[] {
  const calls = elementsAt(bytes, memberAt(bytes, span, 'tool_calls'));
  const parts = elementsAt(bytes, memberAt(bytes, span, 'content'));
  const edits: JsonEdit[] = [];
  for (const [at, call] of (Array.isArray(message.tool_calls) ? message.tool_calls : []).entries()) {
    const path = calls[at];
    if (path !== undefined && isJsonObject(call) && isBareCall(call)) edits.push(...spellCall(call, bytes, path));
  }
  for (const [at, part] of (Array.isArray(message.content) ? message.content : []).entries()) {
    const address = isJsonObject(part) && isBareImage(part) ? memberAt(bytes, parts[at], 'image_url') : undefined;
    if (address !== undefined) edits.push({ ...address, replacement: `{"url":${textAt(bytes, address)}}` });
  }
  return edits;
}

const textAt = (bytes: Buffer, { start, end }: JsonSpan): string => bytes.toString('utf8', start, end);

function spellCall(call: JsonObject, bytes: Buffer, span: JsonSpan): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  const type = memberAt(bytes, span, 'type');
  if (call.type === null && type !== undefined) edits.push({ ...type, replacement: '"function"' });
  else if (call.type === undefined) edits.push({ start: span.start + 1, end: span.start + 1, replacement: '"type":"function",' });
  const input = memberAt(bytes, memberAt(bytes, span, 'function'), 'arguments');
  if (input !== undefined && isJsonObject(membersOf(call.function).arguments)) {
    edits.push({ ...input, replacement: JSON.stringify(textAt(bytes, input)) });
  }
  return edits;
}

function nameSchema({ response_format: format }: JsonObject, bytes: Buffer): readonly JsonEdit[] {
  const described = membersOf(format).json_schema;
  if (!isJsonObject(described) || typeof described.name === 'string') return [];
  const path = ['response_format', 'json_schema'];
  const name = locateJson(bytes, [...path, 'name']);
  if (name !== undefined) return [{ ...name, replacement: JSON.stringify(schemaName) }];
  const span = locateJson(bytes, path);
  const isAlone = Object.keys(described).length === 0;
  return span === undefined
    ? []
    : [{ start: span.start + 1, end: span.start + 1, replacement: `"name":"${schemaName}"${isAlone ? '' : ','}` }];
}
