import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Bytes of the operator's key. */
export const proofKeyBytes = 32;

/** Names and seals what the vault writes into the store. */
export type ProofSealer = {
  /** The name of a user's call in the store: an HMAC-SHA-256, as 64 hexadecimal digits. */
  readonly lookup: (userName: string, callId: string) => string;
  /** Seals a text for this user's call with AES-256-GCM. Another text each time; base64. */
  readonly seal: (userName: string, callId: string, text: string) => string;
  /** What was sealed for exactly this user's call. Undefined for anything else: another key, user or call, damage, a newer program. */
  readonly open: (userName: string, callId: string, sealed: string) => string | undefined;
};

/** First byte of what is sealed: the form of the rest, which is nonce, tag and cipher text. */
const formVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/** @param key 32 random bytes. Each purpose has a key derived from it. Throws RangeError for another length. */
export function createProofSealer(key: Uint8Array): ProofSealer {
  if (key.length !== proofKeyBytes) throw new RangeError(`A proof key has ${proofKeyBytes} bytes, not ${key.length}.`);
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', `weir reasoning proofs: ${purpose}`, 32));
  const lookupKey = derive('lookup');
  const sealingKey = derive('sealing');
  // A key per call: random nonces could repeat after some billions of texts under one key, and never do under this few.
  const callKey = (name: Buffer): Buffer => createHmac('sha256', sealingKey).update(name).digest();
  return {
    lookup: (userName, callId) => createHmac('sha256', lookupKey).update(nameCall(userName, callId)).digest('hex'),
    seal: (userName, callId, text) => {
      const name = nameCall(userName, callId);
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', callKey(name), nonce, { authTagLength: tagBytes }).setAAD(name);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(formVersion), nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open: (userName, callId, sealed) => {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < headBytes || bytes[0] !== formVersion) return undefined;
      const name = nameCall(userName, callId);
      const nonce = bytes.subarray(1, 1 + nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', callKey(name), nonce, { authTagLength: tagBytes });
      decipher.setAAD(name).setAuthTag(bytes.subarray(1 + nonceBytes, headBytes));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()]).toString('utf8');
      } catch {
        // The tag does not fit: it was not sealed for this call under this key.
        return undefined;
      }
    },
  };
}

/** One name for one pair: the length keeps "a" + "bc" and "ab" + "c" apart, and UTF-16 keeps half surrogate pairs apart. */
function nameCall(userName: string, callId: string): Buffer {
  return Buffer.from(`${userName.length}:${userName}${callId}`, 'utf16le');
}
