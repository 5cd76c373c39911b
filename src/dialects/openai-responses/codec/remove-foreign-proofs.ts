import { wrappedProofPrefix } from '../../../inference/proof.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { ownReasoningPrefix } from '../show-item.ts';
import { isOwnToolItem } from './write-server-tools.ts';

/**
 * Whether an item is reasoning of another vendor: its proof is wrapped, or it was written here without one. This vendor would refuse it,
 * since it can neither read the one nor find the other.
 */
function isForeignReasoning(item: JsonValue): boolean {
  if (!isJsonObject(item) || item.type !== 'reasoning') return false;
  const { encrypted_content: proof, id } = item;
  if (typeof proof === 'string' && proof !== '') return proof.startsWith(wrappedProofPrefix);
  return typeof id === 'string' && id.startsWith(ownReasoningPrefix);
}

/** Takes the reasoning of other vendors out of the input, and what tools did that this one did not run. Returns the same body when there is none. */
export function removeForeignProofs(body: JsonObject): JsonObject {
  const { input } = body;
  if (!Array.isArray(input)) return body;
  const items = input as readonly JsonValue[];
  const kept = items.filter((item) => !isForeignReasoning(item) && !(isJsonObject(item) && isOwnToolItem(item)));
  return kept.length === items.length ? body : { ...body, input: kept };
}
