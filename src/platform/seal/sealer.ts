import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Bytes of the operator's key. */
export const secretKeyBytes = 32;

/** Seals bytes under a name with AES-256-GCM. Sealed bytes open only under the same name. */
export type Sealer = {
  /** The result differs each time. It has its own memory, so that it can be transferred to a thread alone. */
  readonly seal: (name: Uint8Array, bytes: Uint8Array) => Uint8Array<ArrayBuffer>;
  /** The same in pieces, with a yield between them. */
  readonly sealInSlices: (name: Uint8Array, bytes: Uint8Array, yieldNow: () => Promise<void>) => Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Opens sealed bytes. Undefined if the key or the name differs, the bytes are damaged, or a newer program sealed
   * them.
   */
  readonly open: (name: Uint8Array, sealed: Uint8Array) => Buffer | undefined;
};

/** First byte of sealed bytes: the format of the rest, which is nonce, tag and cipher text. */
const formVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;
/** A few milliseconds of work. */
const pieceBytes = 2 * 1024 * 1024;

/**
 * Derives a separate key for each purpose, so that one part of the program cannot open what another has sealed. Throws
 * RangeError if the key has another length.
 */
export function deriveKey(key: Uint8Array, purpose: string): Buffer {
  if (key.length !== secretKeyBytes) throw new RangeError(`A secret key has ${secretKeyBytes} bytes, not ${key.length}.`);
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}

/** @param sealingKey a key from deriveKey for this purpose only */
export function createSealer(sealingKey: Uint8Array): Sealer {
  // Each name has its own key. Random nonces could repeat after some billions of texts under one key, but not with the
  // few texts of one name.
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
        // The tag does not match: it was not sealed under this name and key.
        return undefined;
      }
    },
  };
}
