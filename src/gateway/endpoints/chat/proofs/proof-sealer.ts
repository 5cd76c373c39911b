import { createHmac } from 'node:crypto';

import { createSealer, deriveKey } from '../../../../platform/seal/sealer.ts';

/** Computes the names and seals the content of the vault's rows. */
export type ProofSealer = {
  /** The name of a user's call in the store: an HMAC-SHA-256, as 64 hexadecimal digits. */
  readonly lookup: (userName: string, callId: string) => string;
  /** Seals a text for this user's call with AES-256-GCM. The result differs each time; base64. */
  readonly seal: (userName: string, callId: string, text: string) => string;
  /**
   * Opens a text that was sealed for this user's call. Undefined for another key, user or call, damage, or a newer
   * program.
   */
  readonly open: (userName: string, callId: string, sealed: string) => string | undefined;
};

/** @param key 32 random bytes, from which a key for each purpose is derived. Throws RangeError for another length. */
export function createProofSealer(key: Uint8Array): ProofSealer {
  const lookupKey = deriveKey(key, 'weir reasoning proofs: lookup');
  const sealer = createSealer(deriveKey(key, 'weir reasoning proofs: sealing'));
  return {
    lookup: (userName, callId) => createHmac('sha256', lookupKey).update(nameCall(userName, callId)).digest('hex'),
    seal: (userName, callId, text) => Buffer.from(sealer.seal(nameCall(userName, callId), Buffer.from(text)).buffer).toString('base64'),
    open: (userName, callId, sealed) => sealer.open(nameCall(userName, callId), Buffer.from(sealed, 'base64'))?.toString('utf8'),
  };
}

/**
 * An unambiguous name of the pair: the length separates "a" + "bc" from "ab" + "c", and UTF-16 keeps lone surrogates.
 */
function nameCall(userName: string, callId: string): Buffer {
  return Buffer.from(`${userName.length}:${userName}${callId}`, 'utf16le');
}
