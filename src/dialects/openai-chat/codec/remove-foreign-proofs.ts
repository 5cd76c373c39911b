import { wrappedProofPrefix } from '../../../inference/proof.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { detailValue, readThoughtSignature } from './reasoning-details.ts';

const isWrapped = (value: string | undefined): boolean => value?.startsWith(wrappedProofPrefix) === true;

/**
 * Applies a change to every entry. Returns the same list if none changed. Entries that become undefined are removed.
 */
function changeEach(list: readonly JsonValue[], change: (entry: JsonObject) => JsonObject | undefined): readonly JsonValue[] {
  let changed = false;
  const entries = list.flatMap((entry): readonly JsonValue[] => {
    if (!isJsonObject(entry)) return [entry];
    const result = change(entry);
    if (result !== entry) changed = true;
    return result === undefined ? [] : [result];
  });
  return changed ? entries : list;
}

function withoutSignature(value: JsonObject): JsonObject {
  if (!isWrapped(readThoughtSignature(value))) return value;
  const { extra_content: _signature, ...rest } = value;
  return rest;
}

/** The indices of reasoning with a wrapped proof. The proof of a piece of reasoning is on its last entry. */
function provenIndices(details: readonly JsonValue[]): ReadonlySet<JsonValue | undefined> {
  return new Set(details.filter(isJsonObject).flatMap((entry) => (isWrapped(detailValue(entry)) ? [entry.index] : [])));
}

function withoutReasoning(message: JsonObject): JsonObject {
  const { reasoning_details: details, ...rest } = message;
  if (!Array.isArray(details)) return message;
  const foreign = provenIndices(details as readonly JsonValue[]);
  const own = changeEach(details as readonly JsonValue[], (entry) => {
    const isForeign = isWrapped(detailValue(entry)) || (entry.index !== undefined && foreign.has(entry.index));
    return isForeign ? undefined : entry;
  });
  if (own === details) return message;
  // These members repeat the same reasoning as one text.
  const { reasoning_content: _content, reasoning: _reasoning, ...spoken } = rest;
  return own.length === 0 ? spoken : { ...spoken, reasoning_details: own };
}

function cleanMessage(message: JsonObject): JsonObject {
  if (message.role !== 'assistant') return message;
  const cleaned = withoutReasoning(withoutSignature(message));
  const calls = cleaned.tool_calls;
  if (!Array.isArray(calls)) return cleaned;
  const cleanedCalls = changeEach(calls as readonly JsonValue[], withoutSignature);
  return cleanedCalls === calls ? cleaned : { ...cleaned, tool_calls: cleanedCalls };
}

/**
 * Removes wrapped proofs of other dialects' vendors, and the reasoning that they prove, from a request that is passed
 * to a server of this dialect. Returns the same object if there are none.
 */
export function removeForeignProofs(body: JsonObject): JsonObject {
  if (!Array.isArray(body.messages)) return body;
  const messages = changeEach(body.messages as readonly JsonValue[], cleanMessage);
  return messages === body.messages ? body : { ...body, messages };
}
