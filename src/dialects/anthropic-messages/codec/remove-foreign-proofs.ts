import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { isForeignSignature } from './proof-fields.ts';
import { isForeignServerTool } from './server-tools.ts';

/**
 * Removes from a request what a gateway wrote into the vendor's fields for other vendors: thinking with wrapped proofs,
 * records of their tools, citations without the vendor's index. Turns without other content are removed too. Returns
 * the same object if there is nothing to remove.
 * @param all removes the thinking of the vendor too
 */
export function removeForeignProofs(body: JsonObject, all = false): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  const remaining = messages.flatMap((message: JsonValue) => cleanMessage(message, all));
  const isUnchanged = remaining.length === messages.length && remaining.every((message, index) => message === messages[index]);
  if (isUnchanged) return all && beginsWithoutThinking(remaining) ? withoutThinking(body) : body;
  const cleaned = { ...body, messages: remaining.length === 0 ? [{ role: 'user', content: '.' }] : remaining };
  return beginsWithoutThinking(remaining) ? withoutThinking(cleaned) : cleaned;
}

function cleanMessage(message: JsonValue, all: boolean): readonly JsonValue[] {
  if (!isJsonObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return [message];
  const { content } = message;
  const remaining = content.flatMap((block: JsonValue) => cleanBlock(block, all));
  if (remaining.length === content.length && remaining.every((block, index) => block === content[index])) return [message];
  return remaining.length === 0 ? [] : [{ ...message, content: remaining }];
}

function cleanBlock(block: JsonValue, all: boolean): readonly JsonValue[] {
  if (!isJsonObject(block)) return [block];
  if (all && (block.type === 'thinking' || block.type === 'redacted_thinking')) return [];
  if (isForeignSignature(block.type === 'redacted_thinking' ? block.data : block.signature) || isForeignServerTool(block)) return [];
  if (!Array.isArray(block.citations)) return [block];
  const citations = block.citations.filter((citation: JsonValue) => !isJsonObject(citation) || citation.encrypted_index !== '');
  if (citations.length === block.citations.length) return [block];
  const { citations: _citations, ...rest } = block;
  return [citations.length === 0 ? rest : { ...rest, citations }];
}

/** With a budget, the vendor requires the last turn with calls to begin with its thoughts. */
function beginsWithoutThinking(messages: readonly JsonValue[]): boolean {
  const last = messages.findLast((message): message is JsonObject => isJsonObject(message) && message.role === 'assistant');
  if (last === undefined || !Array.isArray(last.content)) return false;
  const types = last.content.map((block: JsonValue) => (isJsonObject(block) ? block.type : undefined));
  return types.includes('tool_use') && types[0] !== 'thinking' && types[0] !== 'redacted_thinking';
}

/**
 * Switches thinking off, because another vendor's thoughts cannot be sent. Settings that clear thoughts are removed
 * too, because they are refused without thinking.
 */
function withoutThinking(body: JsonObject): JsonObject {
  if (!isJsonObject(body.thinking) || body.thinking.type !== 'enabled') return body;
  const { context_management: management, ...rest } = body;
  const off = { ...rest, thinking: { type: 'disabled' } };
  if (!isJsonObject(management) || !Array.isArray(management.edits))
    return management === undefined ? off : { ...off, context_management: management };
  const edits = management.edits.filter((edit: JsonValue) => !(textOf(membersOf(edit).type) ?? '').startsWith('clear_thinking'));
  return edits.length === 0 ? off : { ...off, context_management: { ...management, edits } };
}
