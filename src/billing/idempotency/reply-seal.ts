import { createHmac } from 'node:crypto';

import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import type { KeyName } from './idempotency-store.ts';

/** Which part of which answer it is: what is sealed for one place opens for no other. */
type PartName = KeyName & { readonly requestId: string; readonly part: number | 'head' };

/** Makes what is kept unreadable to whoever has only the database. */
export type ReplySeal = {
  readonly seal: (name: PartName, bytes: Uint8Array) => Uint8Array<ArrayBuffer>;
  /** Undefined for what was sealed under another key or for another place. */
  readonly open: (name: PartName, sealed: Uint8Array) => Buffer | undefined;
  /** Stands for the client's name of a request: it may say something that nobody else should read. */
  readonly nameOf: (keyId: string, given: string) => string;
  /** Stands for what was asked for: a plain hash of a short text would tell it to whoever guesses. */
  readonly hashOf: (keyId: string, digest: Uint8Array) => string;
};

/** @param key the operator's 32 bytes, of which keys of its own are derived */
export function createReplySeal(key: Uint8Array): ReplySeal {
  const sealer = createSealer(deriveKey(key, 'weir idempotency: sealing'));
  const namesKey = deriveKey(key, 'weir idempotency: names');
  const mark = (kind: string, keyId: string, bytes: Uint8Array): string =>
    createHmac('sha256', namesKey)
      .update(spell([kind, keyId]))
      .update(bytes)
      .digest('base64url');
  return {
    seal: (name, bytes) => sealer.seal(spellPart(name), bytes),
    open: (name, sealed) => sealer.open(spellPart(name), sealed),
    nameOf: (keyId, given) => mark('name', keyId, Buffer.from(given)),
    hashOf: (keyId, digest) => mark('body', keyId, digest),
  };
}

const spellPart = ({ keyId, key, requestId, part }: PartName): Buffer => spell([keyId, key, requestId, String(part)]);

/** Lengths keep "a" + "bc" and "ab" + "c" apart. */
function spell(parts: readonly string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part.length}:${part}`).join(''), 'utf16le');
}
