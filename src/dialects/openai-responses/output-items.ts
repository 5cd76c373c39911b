import { isJsonObject } from '../../platform/json/json-value.ts';

/** Members of output items and their parts with generated text. */
const textMembers = ['text', 'refusal', 'arguments', 'input', 'code'] as const;

/**
 * Characters of generated text in one output item: answer, refusal, reasoning, tool arguments. Results of tools do not
 * count.
 */
export function countItemCharacters(item: unknown): number {
  if (!isJsonObject(item)) return 0;
  let characters = 0;
  for (const member of textMembers) {
    const text = item[member];
    if (typeof text === 'string') characters += text.length;
  }
  for (const parts of [item.content, item.summary]) {
    if (!Array.isArray(parts)) continue;
    for (const part of parts) characters += countItemCharacters(part);
  }
  return characters;
}

/**
 * Whether an output item is a web search that the vendor bills. Opening a page and finding text in it have the same
 * type and are free. Older models name no action, and then every call is a search. A failed search is not billed.
 */
export function isBilledWebSearch(item: unknown): boolean {
  if (!isJsonObject(item) || item.type !== 'web_search_call' || item.status === 'failed') return false;
  const action = item.action;
  return !isJsonObject(action) || action.type === undefined || action.type === 'search';
}
