import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Seals the pieces of files before they are stored, and opens them again. */
export type PieceSealer = {
  readonly seal: (fileId: string, index: number, piece: Uint8Array) => Uint8Array;
  /** Undefined for everything except this piece of this file, sealed with the same key. */
  readonly open: (fileId: string, index: number, sealed: Uint8Array) => Buffer | undefined;
};

/** The first byte of a sealed piece: the version of the rest, which is nonce, tag and cipher text. */
const formVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/** @param key 32 random bytes of the operator. Each file has its own key, which is derived from it. */
export function createPieceSealer(key: Uint8Array): PieceSealer {
  const sealingKey = Buffer.from(hkdfSync('sha256', key, '', 'weir files: sealing', 32));
  const fileKey = (fileId: string): Buffer => createHmac('sha256', sealingKey).update(fileId).digest();
  // A piece in another position would change its file.
  const place = (fileId: string, index: number): Buffer => Buffer.from(`${fileId}:${index}`);
  return {
    seal: (fileId, index, piece) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', fileKey(fileId), nonce, { authTagLength: tagBytes }).setAAD(place(fileId, index));
      const body = [cipher.update(piece), cipher.final()];
      return Buffer.concat([Buffer.of(formVersion), nonce, cipher.getAuthTag(), ...body]);
    },
    open: (fileId, index, sealed) => {
      if (sealed.length < headBytes || sealed[0] !== formVersion) return undefined;
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', fileKey(fileId), nonce, { authTagLength: tagBytes });
      decipher.setAAD(place(fileId, index)).setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
      } catch {
        // The tag is wrong: the piece is damaged, or from another position.
        return undefined;
      }
    },
  };
}
