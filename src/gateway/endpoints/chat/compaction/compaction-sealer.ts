import { createSealer, deriveKey } from '../../../../platform/seal/sealer.ts';

/** Seals summaries of conversations, which clients keep and bring back, for the user whose call made them. */
export type CompactionSealer = {
  /** A text that says nothing to anybody but this gateway, and that only this user can bring back. Another one each time. */
  readonly seal: (userName: string, summary: string) => string;
  /** Whether a text claims to have been sealed here. */
  readonly isSealed: (text: string) => boolean;
  /** What was sealed for exactly this user. Undefined for anything else: another key or user, damage, a newer program. */
  readonly open: (userName: string, sealed: string) => string | undefined;
};

/** What sealed summaries begin with: no vendor's own do. */
const prefix = 'weir-summary-1.';

/** @param key 32 random bytes (see loadProofKey). Each purpose has a key derived from it. */
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
