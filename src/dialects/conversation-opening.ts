import { isJsonObject, type JsonValue } from '../platform/json/json-value.ts';

/** Characters that are read at each end of a text: enough to distinguish conversations, in about a microsecond. */
const edgeCharacters = 128;
/** Characters that are collected of one part of the opening, such as the first user turn. */
const partCharactersMax = 512;

/**
 * Members that differ between calls of one conversation, or between two forms of one text. Agents move their cache
 * marks from turn to turn.
 */
const skippedMembers = new Set(['cache_control', 'type', 'role', 'id', 'detail']);

/** The beginning, the end and the length of a long text, which two different texts rarely share. */
function clip(text: string): string {
  if (text.length <= 2 * edgeCharacters) return text;
  return `${text.slice(0, edgeCharacters)}${text.length}${text.slice(-edgeCharacters)}`;
}

/**
 * The texts of a value, one after the other, up to a bound: `"x"` and `[{ "type": "text", "text": "x" }]` give the same
 * result. Inline media count as text. Returns an empty text if there is none.
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

/** Tools whose names are part of an opening. */
const namedToolsMax = 32;

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

/** Joins the parts of an opening. A separator keeps text of one part from being read as text of another. */
export function joinOpening(system: string, toolNames: string, firstTurn: string): string {
  return `${system}\u0000${toolNames}\u0000${firstTurn}`;
}

/** A session that a client names in the body, as a text that is unlike any opening. Undefined if there is none. */
export function readSessionId(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? `\u0001${value.slice(0, 512)}` : undefined;
}
