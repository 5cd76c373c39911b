import { createHmac } from 'node:crypto';

import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import type { KeyName } from './idempotency-store.ts';

/** Identifies a part of an answer: a part that is sealed for one position does not open at another. */
type PartName = KeyName & { readonly requestId: string; readonly part: number | 'head' };

/** Encrypts stored answers, so that the database alone does not disclose them. */
export type ReplySeal = {
  readonly seal: (name: PartName, bytes: Uint8Array) => Uint8Array<ArrayBuffer>;
  /** Undefined if it was sealed under another key or for another position. */
  readonly open: (name: PartName, sealed: Uint8Array) => Buffer | undefined;
  /** A keyed hash of the client's idempotency key, which may contain private text. */
  readonly nameOf: (keyId: string, clientKey: string) => string;
  /** A keyed hash of the request: a plain hash of a short text could be guessed. */
  readonly hashOf: (keyId: string, digest: Uint8Array) => string;
};

/** @param key the operator's 32 bytes, from which separate keys are derived */
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
    nameOf: (keyId, clientKey) => mark('name', keyId, Buffer.from(clientKey)),
    hashOf: (keyId, digest) => mark('body', keyId, digest),
  };
}

const spellPart = ({ keyId, key, requestId, part }: PartName): Buffer => spell([keyId, key, requestId, String(part)]);

/** The lengths distinguish "a" + "bc" from "ab" + "c". */
function spell(parts: readonly string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part.length}:${part}`).join(''), 'utf16le');
}
