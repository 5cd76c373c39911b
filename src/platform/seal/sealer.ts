import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Bytes of the operator's key. */
export const secretKeyBytes = 32;

/** Seals bytes under a name with AES-256-GCM: what was sealed under one name opens under no other. */
export type Sealer = {
  /** Other bytes each time. They have memory of their own, so that they can be sent to a thread without what lies beside them. */
  readonly seal: (name: Uint8Array, bytes: Uint8Array) => Uint8Array<ArrayBuffer>;
  /** The same in pieces, between which others have their turn. */
  readonly sealInSlices: (name: Uint8Array, bytes: Uint8Array, yieldNow: () => Promise<void>) => Promise<Uint8Array<ArrayBuffer>>;
  /** What was sealed under exactly this name. Undefined for anything else: another key or name, damage, a newer program. */
  readonly open: (name: Uint8Array, sealed: Uint8Array) => Buffer | undefined;
};

/** First byte of what is sealed: the form of the rest, which is nonce, tag and cipher text. */
const formVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;
/** A few milliseconds of work. */
const pieceBytes = 2 * 1024 * 1024;

/** A key of its own for each purpose, so that what one part of the program sealed means nothing to another. Throws RangeError for a key of another length. */
export function deriveKey(key: Uint8Array, purpose: string): Buffer {
  if (key.length !== secretKeyBytes) throw new RangeError(`A secret key has ${secretKeyBytes} bytes, not ${key.length}.`);
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}

/** @param sealingKey what deriveKey made for this purpose alone */
export function createSealer(sealingKey: Uint8Array): Sealer {
  // A key per name: random nonces could repeat after some billions of texts under one key, and never do under these few.
  const nameKey = (name: Uint8Array): Buffer => createHmac('sha256', sealingKey).update(name).digest();
  const begin = (name: Uint8Array, length: number) => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', nameKey(name), nonce, { authTagLength: tagBytes }).setAAD(name);
    const sealed = new Uint8Array(headBytes + length);
    return {
      add: (bytes: Uint8Array, at: number): void => sealed.set(cipher.update(bytes), headBytes + at),
      finish: (): Uint8Array<ArrayBuffer> => {
        cipher.final();
        sealed[0] = formVersion;
        sealed.set(nonce, 1);
        sealed.set(cipher.getAuthTag(), 1 + nonceBytes);
        return sealed;
      },
    };
  };
  return {
    seal: (name, bytes) => {
      const sealing = begin(name, bytes.length);
      sealing.add(bytes, 0);
      return sealing.finish();
    },
    sealInSlices: async (name, bytes, yieldNow) => {
      const sealing = begin(name, bytes.length);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        await yieldNow();
        sealing.add(bytes.subarray(at, at + pieceBytes), at);
      }
      return sealing.finish();
    },
    open: (name, sealed) => {
      if (sealed.length < headBytes || sealed[0] !== formVersion) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', nameKey(name), sealed.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(name).setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
      try {
        const opened = decipher.update(sealed.subarray(headBytes));
        decipher.final();
        return opened;
      } catch {
        // The tag does not fit: it was not sealed under this name and key.
        return undefined;
      }
    },
  };
}
