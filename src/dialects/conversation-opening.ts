import { isJsonObject, type JsonValue } from '../platform/json/json-value.ts';

/** How much is read of a text: enough to tell conversations apart, little enough to cost a microsecond. */
const edgeCharacters = 128;
/** How much is collected of one part of the opening, such as the first user turn. */
const partCharactersMax = 512;

/** Members that differ between calls of one conversation, or between two spellings of one text. Agent programs move their cache marks from turn to turn. */
const skippedMembers = new Set(['cache_control', 'type', 'role', 'id', 'detail']);

/** The beginning, the end and the length of a long text: what two texts that are not the same seldom share. */
function clip(text: string): string {
  if (text.length <= 2 * edgeCharacters) return text;
  return `${text.slice(0, edgeCharacters)}${text.length}${text.slice(-edgeCharacters)}`;
}

/**
 * The texts of a value, one after the other, up to a bound: `"x"` and `[{ "type": "text", "text": "x" }]` come to the same. Inline media count as text.
 * Returns an empty text for what holds none.
 */
export function collectText(value: JsonValue | undefined): string {
  return collect(value, '');
}

function collect(value: JsonValue | undefined, before: string): string {
  if (typeof value === 'string') return `${before}${clip(value)}\n`;
  let collected = before;
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) {
      if (collected.length >= partCharactersMax) return collected;
      collected = collect(item, collected);
    }
    return collected;
  }
  if (!isJsonObject(value)) return before;
  for (const name in value) {
    if (collected.length >= partCharactersMax) return collected;
    if (!skippedMembers.has(name)) collected = collect(value[name], collected);
  }
  return collected;
}

/** How many tools are named in an opening. */
const namedToolsMax = 32;

/** The names of tools, as `nameOf` finds them. */
export function collectToolNames(tools: JsonValue | undefined, nameOf: (tool: JsonValue) => JsonValue | undefined): string {
  if (!Array.isArray(tools)) return '';
  const list: readonly JsonValue[] = tools;
  let names = '';
  for (let index = 0; index < list.length && index < namedToolsMax; index++) {
    const name = nameOf(list[index] ?? null);
    if (typeof name === 'string') names += `${name.slice(0, 64)},`;
  }
  return names;
}

/** How a conversation begins, of its parts. The marks between them keep text of one from passing for text of another. */
export function joinOpening(system: string, toolNames: string, firstTurn: string): string {
  return `${system}\u0000${toolNames}\u0000${firstTurn}`;
}

/** A session that a client names in the body, as a text that no opening is like. Undefined for what names none. */
export function readSessionId(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? `\u0001${value.slice(0, 512)}` : undefined;
}
