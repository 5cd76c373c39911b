import { createHmac } from 'node:crypto';

import { createSealer, deriveKey } from '../../../../platform/seal/sealer.ts';

/** Names and seals what the vault writes into the store. */
export type ProofSealer = {
  /** The name of a user's call in the store: an HMAC-SHA-256, as 64 hexadecimal digits. */
  readonly lookup: (userName: string, callId: string) => string;
  /** Seals a text for this user's call with AES-256-GCM. Another text each time; base64. */
  readonly seal: (userName: string, callId: string, text: string) => string;
  /** What was sealed for exactly this user's call. Undefined for anything else: another key, user or call, damage, a newer program. */
  readonly open: (userName: string, callId: string, sealed: string) => string | undefined;
};

/** @param key 32 random bytes. Each purpose has a key derived from it. Throws RangeError for another length. */
export function createProofSealer(key: Uint8Array): ProofSealer {
  const lookupKey = deriveKey(key, 'weir reasoning proofs: lookup');
  const sealer = createSealer(deriveKey(key, 'weir reasoning proofs: sealing'));
  return {
    lookup: (userName, callId) => createHmac('sha256', lookupKey).update(nameCall(userName, callId)).digest('hex'),
    seal: (userName, callId, text) => Buffer.from(sealer.seal(nameCall(userName, callId), Buffer.from(text)).buffer).toString('base64'),
    open: (userName, callId, sealed) => sealer.open(nameCall(userName, callId), Buffer.from(sealed, 'base64'))?.toString('utf8'),
  };
}

/** One name for one pair: the length keeps "a" + "bc" and "ab" + "c" apart, and UTF-16 keeps half surrogate pairs apart. */
function nameCall(userName: string, callId: string): Buffer {
  return Buffer.from(`${userName.length}:${userName}${callId}`, 'utf16le');
}
