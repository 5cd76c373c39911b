import { createSealer, deriveKey } from '../../../../platform/seal/sealer.ts';

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
