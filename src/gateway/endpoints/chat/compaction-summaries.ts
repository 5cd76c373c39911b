import { createSealer, deriveKey } from '../../../platform/seal/sealer.ts';
import { openCompactions } from '../../../dialects/openai-responses/compaction.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Seals summaries of conversations for the user whose call made them. Clients store them and send them back. */
export type CompactionSealer = {
  /**
   * Seals a summary. Only this gateway can read the text, and only this user can send it back. It differs each time.
   */
  readonly seal: (userName: string, summary: string) => string;
  /** Whether a text has the form of a summary that was sealed here. */
  readonly isSealed: (text: string) => boolean;
  /** Opens a summary that was sealed for this user. Undefined for another key or user, damage, or a newer program. */
  readonly open: (userName: string, sealed: string) => string | undefined;
};

/** The beginning of sealed summaries. No vendor's own summaries begin like this. */
const prefix = 'weir-summary-1.';

/** @param key 32 random bytes (see loadProofKey), from which a key for this purpose is derived */
export function createCompactionSealer(key: Uint8Array): CompactionSealer {
  const sealer = createSealer(deriveKey(key, 'weir compacted conversations: sealing'));
  const nameOf = (userName: string): Buffer => Buffer.from(userName, 'utf16le');
  return {
    seal: (userName, summary) => prefix + Buffer.from(sealer.seal(nameOf(userName), Buffer.from(summary)).buffer).toString('base64url'),
    isSealed: (text) => text.startsWith(prefix),
    open: (userName, sealed) => {
      if (!sealed.startsWith(prefix)) return undefined;
      return sealer.open(nameOf(userName), Buffer.from(sealed.slice(prefix.length), 'base64url'))?.toString('utf8');
    },
  };
}

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
