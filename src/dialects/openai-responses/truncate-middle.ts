import { filledText } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

export type TruncationLimits = {
  /** The maximum of tokens in all items together. */
  readonly tokensMax: number;
  readonly countTokens: (item: JsonValue) => number;
};

export type Truncated = {
  readonly items: readonly JsonValue[];
  /** The number of dropped items, and the ids of those that have one. */
  readonly dropped: number;
  readonly droppedIds: readonly string[];
};

const membersOf = (item: JsonValue | undefined): JsonObject => (isJsonObject(item) ? item : {});

const roleOf = (item: JsonValue): string | undefined => {
  const { role, type } = membersOf(item);
  // Parts of a message without a message around them are the user's.
  return filledText(role) ?? (typeof type === 'string' && type.startsWith('input_') ? 'user' : undefined);
};

const isSystem = (item: JsonValue): boolean => roleOf(item) === 'system' || roleOf(item) === 'developer';
const isUser = (item: JsonValue): boolean => roleOf(item) === 'user';
const isOutput = (item: JsonValue): boolean => /_(?:output|response)$/.test(filledText(membersOf(item).type) ?? '');

/** The id that links a call and its result. Undefined for other items. */
function bondOf(item: JsonValue): string | undefined {
  const { type, id, call_id: callId, approval_request_id: request } = membersOf(item);
  if (type === 'mcp_approval_request') return filledText(id);
  return filledText(callId) ?? filledText(request);
}

/**
 * Gives items that belong together the same number: a call with its results, and reasoning with the items that it led
 * to. Numbers follow the order in which the groups begin.
 */
function groupItems(items: readonly JsonValue[]): readonly number[] {
  const parents = items.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parents[root] !== root) root = parents[root] ?? root;
    for (let at = index; at !== root;) {
      const next = parents[at] ?? root;
      parents[at] = root;
      at = next;
    }
    return root;
  };
  const join = (first: number, second: number): void => {
    const [a, b] = [rootOf(first), rootOf(second)];
    parents[Math.max(a, b)] = Math.min(a, b);
  };
  const firstOfBond = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const bond = bondOf(item);
    const first = bond === undefined ? undefined : firstOfBond.get(bond);
    if (first !== undefined) join(first, index);
    else if (bond !== undefined) firstOfBond.set(bond, index);
    const next = items[index + 1];
    if (membersOf(item).type === 'reasoning' && next !== undefined && !isUser(next) && !isSystem(next)) join(index, index + 1);
  }
  return items.map((_, index) => rootOf(index));
}

/** Items that are never dropped: system text, the first and the last user message, and the model's current step. */
function findRequired(items: readonly JsonValue[]): ReadonlySet<number> {
  const required = new Set(items.flatMap((item, index) => (isSystem(item) ? [index] : [])));
  const first = items.findIndex(isUser);
  const last = items.findLastIndex(isUser);
  if (first !== -1) required.add(first).add(last);
  // The model continues from the newest results.
  for (let index = items.length - 1; index >= 0; index--) {
    required.add(index);
    const before = items[index - 1];
    if (before === undefined || !isOutput(items[index] ?? null) || !isOutput(before)) break;
  }
  return required;
}

/**
 * Drops items from the middle of a conversation, the oldest first, until the rest fits `tokensMax` or only required
 * items remain. Items that belong together are dropped together. `fits` reports the result.
 */
export function dropMiddle(
  items: readonly JsonValue[],
  { tokensMax, countTokens }: TruncationLimits,
): Truncated & { readonly fits: boolean } {
  const counts = items.map(countTokens);
  const groups = groupItems(items);
  const keptGroups = new Set([...findRequired(items)].map((index) => groups[index]));
  const tokensOfGroup = new Map<number, number>();
  for (const [index, group] of groups.entries()) tokensOfGroup.set(group, (tokensOfGroup.get(group) ?? 0) + (counts[index] ?? 0));
  let total = counts.reduce((sum, count) => sum + count, 0);
  const dropped = new Set<number>();
  // Groups are in the order in which they begin.
  for (const [group, tokens] of tokensOfGroup) {
    if (total <= tokensMax) break;
    if (keptGroups.has(group)) continue;
    dropped.add(group);
    total -= tokens;
  }
  const isDropped = (index: number): boolean => dropped.has(groups[index] ?? -1);
  const droppedItems = items.filter((_, index) => isDropped(index));
  return {
    items: droppedItems.length === 0 ? items : items.filter((_, index) => !isDropped(index)),
    dropped: droppedItems.length,
    droppedIds: droppedItems.flatMap((item) => filledText(membersOf(item).id) ?? []),
    fits: total <= tokensMax,
  };
}
