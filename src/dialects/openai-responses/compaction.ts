import { GatewayError } from '../../inference/gateway-error.ts';
import { textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { CompactionWriting } from '../chat-codec.ts';
import { mayHave } from '../request-survey.ts';
import type { WireRequest } from '../wire-request.ts';
import { surveyRequest } from './survey-request.ts';

const triggerType = 'compaction_trigger';
const compactionType = 'compaction';

const itemsOfInput = (input: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(input) ? (input as readonly JsonValue[]) : []);

const isOfType = (item: JsonValue | undefined, type: string): item is JsonObject => isJsonObject(item) && item.type === type;

/** The form of the reply if a request compacts its conversation. Undefined for a request to generate. */
export function compactionOf({ operation, body }: Pick<WireRequest, 'operation' | 'body'>): CompactionWriting['form'] | undefined {
  if (operation === 'compact') return 'compacted';
  if (operation !== 'generate' || !mayHave(surveyRequest, body, 'compaction')) return undefined;
  return isOfType(itemsOfInput(body.input).at(-1), triggerType) ? 'response' : undefined;
}

/** Refuses a trigger that is not the last item of the input. @throws GatewayError `invalid_value` */
export function requireTriggerLast(body: JsonObject): void {
  if (!mayHave(surveyRequest, body, 'compaction')) return;
  const items = itemsOfInput(body.input);
  const at = items.findIndex((item) => isOfType(item, triggerType));
  if (at === -1 || at === items.length - 1) return;
  const param = `input[${at}]`;
  throw new GatewayError('invalid_value', `Invalid '${param}': an item of type '${triggerType}' must be the last item of 'input'.`, {
    param,
  });
}

/** The input without the item that requests the compaction. */
export function withoutTrigger(input: JsonValue | undefined): JsonValue | undefined {
  const items = itemsOfInput(input);
  return items.some((item) => isOfType(item, triggerType)) ? items.filter((item) => !isOfType(item, triggerType)) : input;
}

/** The instruction for the model at the end of a conversation that is compacted. */
export const compactionPrompt = `Summarize the conversation above, so that another model can continue it from your summary alone, without seeing the conversation.

Include, as far as they occur:
- what the user asked for, with all constraints, preferences and corrections, in the user's own words where the wording matters;
- what was done and decided, and why, in order;
- results that are still needed: names, paths, identifiers, values, code and error messages, exactly as they were;
- the current state, and the next steps that remain.

Write only the summary, as plain text. Do not continue the task and do not call tools.`;

const summaryOpening = '<conversation_summary>';
const summaryIntroduction = 'The earlier part of this conversation was compacted into the following summary.';

function summaryMessage(summary: string): JsonObject {
  const text = `${summaryOpening}\n${summaryIntroduction}\n\n${summary}\n</conversation_summary>`;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function isSummaryMessage({ content }: JsonObject): boolean {
  const [part] = itemsOfInput(content);
  return isJsonObject(part) && textOf(part.text)?.startsWith(`${summaryOpening}\n${summaryIntroduction}`) === true;
}

/** Whether the input has a compaction, of any vendor. */
export function hasCompaction(body: JsonObject): boolean {
  return mayHave(surveyRequest, body, 'compaction') && itemsOfInput(body.input).some((item) => isOfType(item, compactionType));
}

/**
 * Replaces compaction items by their summaries. Items that `open` does not recognise belong to another vendor and stay.
 * @param open the summary in an encrypted text; undefined if the text was not encrypted here; throws if it cannot be
 * read
 */
export function openCompactions(
  body: JsonObject,
  open: (sealed: string, param: string) => string | undefined,
  paramOf: (index: number) => string = (index) => `input[${index}].encrypted_content`,
): JsonObject {
  if (!hasCompaction(body)) return body;
  let isOpened = false;
  const input = itemsOfInput(body.input).map((item, index) => {
    const sealed = isOfType(item, compactionType) ? item.encrypted_content : undefined;
    const summary = typeof sealed === 'string' ? open(sealed, paramOf(index)) : undefined;
    if (summary === undefined) return item;
    isOpened = true;
    return summaryMessage(summary);
  });
  return isOpened ? { ...body, input } : body;
}

/**
 * A stored conversation from its last compaction on, which replaces everything before it. Triggers are requests and not
 * part of the conversation.
 */
export function sinceCompaction(items: readonly JsonObject[]): readonly JsonObject[] {
  let begin = 0;
  for (const [at, item] of items.entries()) {
    if (item.type === triggerType && isOfType(items[at + 1], compactionType)) begin = at + 1;
  }
  return items.slice(begin).filter((item) => !isOfType(item, triggerType));
}

/**
 * Characters of user messages that are retained beside a compaction, the newest first. The vendor retains 64,000
 * tokens.
 */
const retainedCharactersMax = 256_000;

/** The user messages that a compacted conversation retains unchanged. */
export function retainedMessages(input: JsonValue | undefined, newId: (prefix: string) => string): readonly JsonObject[] {
  const items: readonly JsonValue[] = typeof input === 'string' ? [{ role: 'user', content: input }] : itemsOfInput(input);
  const retained: JsonObject[] = [];
  let characters = 0;
  for (const item of items.toReversed()) {
    if (!isJsonObject(item) || item.role !== 'user' || isSummaryMessage(item)) continue;
    characters += JSON.stringify(item.content ?? '').length;
    if (characters > retainedCharactersMax) break;
    const { content } = item;
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : (content ?? []);
    retained.push({ id: textOf(item.id) ?? newId('msg'), type: 'message', status: 'completed', role: 'user', content: parts });
  }
  return retained.toReversed();
}

/** A compaction as an item of a response. */
export function writeCompactionItem(id: string, encryptedContent: string): JsonObject {
  return { id, type: compactionType, encrypted_content: encryptedContent };
}
