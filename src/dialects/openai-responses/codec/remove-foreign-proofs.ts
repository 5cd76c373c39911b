import { wrappedProofPrefix } from '../../../inference/proof.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { ownReasoningPrefix } from '../show-item.ts';
import { isOwnToolItem } from './write-server-tools.ts';

/**
 * Whether an item is reasoning of another vendor: its proof is wrapped, or it was written here without one. This vendor
 * would refuse it, because it cannot read the proof or find the item.
 */
function isForeignReasoning(item: JsonValue): boolean {
  if (!isJsonObject(item) || item.type !== 'reasoning') return false;
  const { encrypted_content: proof, id } = item;
  if (typeof proof === 'string' && proof !== '') return proof.startsWith(wrappedProofPrefix);
  return typeof id === 'string' && id.startsWith(ownReasoningPrefix);
}

/**
 * Removes reasoning of other vendors, and tool runs that this vendor did not make, from the input. Returns the same
 * body if there are none.
 */
export function removeForeignProofs(body: JsonObject): JsonObject {
  const { input } = body;
  if (!Array.isArray(input)) return body;
  const items = input as readonly JsonValue[];
  const own = items.filter((item) => !isForeignReasoning(item) && !(isJsonObject(item) && isOwnToolItem(item)));
  return own.length === items.length ? body : { ...body, input: own };
}
