import { openCompactions } from '../../../../dialects/openai-responses/compaction.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { CompactionSealer } from './compaction-sealer.ts';

/**
 * Replaces the items of summaries that were sealed here by the summaries, so that any upstream can read them. A
 * vendor's own summaries stay as they are.
 * @param param the field that errors name, if it is not in this body
 * @throws GatewayError `invalid_value` for a summary of another user, and for a changed one
 */
export function openSummaries(
  body: JsonObject,
  {
    sealer,
    userName,
    param,
  }: { readonly sealer: CompactionSealer | undefined; readonly userName: string; readonly param?: string | undefined },
): JsonObject {
  if (sealer === undefined) return body;
  return openCompactions(body, (sealed, place) => {
    if (!sealer.isSealed(sealed)) return undefined;
    const summary = sealer.open(userName, sealed);
    if (summary !== undefined) return summary;
    const at = param ?? place;
    throw new GatewayError(
      'invalid_value',
      `Invalid '${at}': the content was not sealed for this user, or was changed. Send the item exactly as it was returned.`,
      { param: at },
    );
  });
}
