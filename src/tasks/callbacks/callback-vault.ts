import type { ChangeAuthor } from '../../audit/change-author.ts';
import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CallbackStore } from './callback-store.ts';
import { createCallbackSecret } from './callback-secret.ts';

/** How long the previous secret also signs after a rotation. */
const overlapMs = 24 * 3_600_000;

/**
 * Seals addresses of callbacks and the secrets that sign them, so that access to the database alone does not reveal
 * them.
 */
export type CallbackVault = {
  readonly sealUrl: (url: string, deliveryId: string) => Uint8Array<ArrayBuffer>;
  /** Undefined if the address was sealed under another key or for another delivery. */
  readonly openUrl: (sealed: Uint8Array, deliveryId: string) => string | undefined;
  /**
   * The secrets that sign a user's events now, newest first. Creates one if there is none. Rejects with
   * CallbackKeyError.
   */
  readonly secretsOf: (userName: string) => Promise<readonly [string, ...string[]]>;
  /** Creates a new secret and resolves with it. The previous one also signs for 24 hours. */
  readonly rotate: (userName: string, author: ChangeAuthor) => Promise<string>;
};

/** The secrets of a user were sealed under another key. A rotation creates a new one. */
export class CallbackKeyError extends Error {
  constructor(userName: string) {
    super(`the callback secrets of ${userName} were sealed under another key; rotate them`);
    this.name = 'CallbackKeyError';
  }
}

export type CallbackVaultOptions = {
  readonly store: Pick<CallbackStore, 'findCallbackSecrets' | 'putCallbackSecrets'>;
  /** The operator's 32 bytes, from which a separate key is derived. */
  readonly key: Uint8Array;
  readonly randomBytes: (size: number) => Buffer;
  readonly clock: Clock;
};

export function createCallbackVault({ store, key, randomBytes, clock }: CallbackVaultOptions): CallbackVault {
  const sealer = createSealer(deriveKey(key, 'weir callbacks: sealing'));
  const secretName = (userName: string): Buffer => Buffer.from(`secret:${userName}`, 'utf16le');
  const urlName = (deliveryId: string): Buffer => Buffer.from(`url:${deliveryId}`, 'utf16le');
  const open = (userName: string, sealed: Uint8Array): string | undefined => sealer.open(secretName(userName), sealed)?.toString('utf8');
  const make = (userName: string): { readonly secret: string; readonly sealed: Uint8Array<ArrayBuffer> } => {
    const secret = createCallbackSecret(randomBytes);
    return { secret, sealed: sealer.seal(secretName(userName), Buffer.from(secret)) };
  };
  const findOrMake = async (userName: string) => {
    const found = await store.findCallbackSecrets(userName);
    if (found !== undefined) return found;
    await store.putCallbackSecrets({ userName, current: make(userName).sealed });
    // Another process may have created one at the same moment. The stored secret counts.
    return store.findCallbackSecrets(userName);
  };
  return {
    sealUrl: (url, deliveryId) => sealer.seal(urlName(deliveryId), Buffer.from(url)),
    openUrl: (sealed, deliveryId) => sealer.open(urlName(deliveryId), sealed)?.toString('utf8'),
    secretsOf: async (userName) => {
      const stored = await findOrMake(userName);
      const current = stored === undefined ? undefined : open(userName, stored.current);
      if (stored === undefined || current === undefined) throw new CallbackKeyError(userName);
      const { previous } = stored;
      const before = previous === undefined || previous.untilMs <= clock.nowMs() ? undefined : open(userName, previous.sealed);
      return before === undefined ? [current] : [current, before];
    },
    rotate: async (userName, author) => {
      const { secret, sealed } = make(userName);
      const stored = await store.findCallbackSecrets(userName);
      const previous =
        stored === undefined || open(userName, stored.current) === undefined
          ? {}
          : { previous: { sealed: stored.current, untilMs: clock.nowMs() + overlapMs } };
      await store.putCallbackSecrets({ userName, current: sealed, ...previous, change: { ...author, atMs: clock.nowMs() } });
      return secret;
    },
  };
}
