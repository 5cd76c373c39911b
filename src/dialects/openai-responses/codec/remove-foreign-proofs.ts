import { wrappedProofPrefix } from '../../../inference/proof.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { ownReasoningPrefix } from '../show-item.ts';
import { decodeGeneratedImage } from './decode-server-tool.ts';
import { isOwnToolItem } from './write-server-tools.ts';
import { writeDataUrl } from '../../data-url.ts';

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
 * @param all removes all reasoning
 */
export function removeForeignProofs(body: JsonObject, all = false): JsonObject {
  const { input } = body;
  if (!Array.isArray(input)) return body;
  const items = input as readonly JsonValue[];
  const isForeign = (item: JsonValue): boolean =>
    isForeignReasoning(item) || (isJsonObject(item) && (isOwnToolItem(item) || (all && item.type === 'reasoning')));
  if (!items.some(isForeign)) return body;
  return { ...body, input: items.flatMap((item): readonly JsonValue[] => (isForeign(item) ? showImage(item) : [item])) };
}

/**
 * An image that the gateway made is shown by the user: this vendor has no item of it. Other foreign items are left out.
 */
function showImage(item: JsonValue): readonly JsonObject[] {
  const image = isJsonObject(item) ? decodeGeneratedImage(item) : undefined;
  if (image?.source.kind !== 'inline') return [];
  const content = [
    { type: 'input_text', text: 'Made by the assistant:' },
    { type: 'input_image', image_url: writeDataUrl(image.source) },
  ];
  return [{ type: 'message', role: 'user', content }];
}
