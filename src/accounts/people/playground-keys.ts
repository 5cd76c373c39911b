import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Sealer } from '../../platform/seal/sealer.ts';
import type { AccessLimits } from '../access-limits.ts';
import type { RandomBytes } from '../api-key-format.ts';
import { createAccounts } from '../create-accounts.ts';
import type { AccountsStore } from '../accounts-store.ts';
import { playgroundKeyName, playgroundLifeMs } from './playground-key-name.ts';
import type { ListedPlaygroundKey, PlaygroundKeyStore } from './playground-key-store.ts';
import type { Session } from './session.ts';

/** The longest life of a key, and the most keys of a session at a time. */
export const playgroundLimits = { lifeMs: playgroundLifeMs, keysPerSession: 20 } as const;

/** What a key of the playground is asked for with. */
type PlaygroundKeyOrder = {
  readonly session: Pick<Session, 'id' | 'expiresAtMs'>;
  /** Must exist. */
  readonly userName: string;
  /** Limits of another key, which apply to this one too. */
  readonly limits?: AccessLimits;
  /** The most that its calls may cost in all, in USD: see AccessLimits. */
  readonly spendTotal: string;
};

/**
 * API keys for the calls of the playground. A key belongs to a session, and its secret stays on the server: sealed in
 * the store, opened for a call that the console relays. It ends with its session, at its expiry, or when it is ended.
 * Methods reject with the errors of accounts or of the store.
 */
export type PlaygroundKeys = {
  /** Undefined if the session is over, or has the most keys that it may have. */
  readonly create: (order: PlaygroundKeyOrder, author: ChangeAuthor) => Promise<ListedPlaygroundKey | undefined>;
  readonly list: (sessionId: string) => Promise<readonly ListedPlaygroundKey[]>;
  /** The secret of a key; undefined if it was sealed with another key. It must not leave the server. */
  readonly secretOf: (key: ListedPlaygroundKey) => string | undefined;
  readonly end: (sessionId: string, keyId: string, author: ChangeAuthor) => Promise<boolean>;
  /** Ends keys whose time is over. Returns how many. */
  readonly sweep: () => Promise<number>;
};

const nameOfSecret = (sessionId: string, keyId: string): Uint8Array => Buffer.from(`playground key ${keyId} of ${sessionId}`);
const idleMs = 12 * 3_600_000;

export function createPlaygroundKeys(parts: {
  readonly store: AccountsStore & PlaygroundKeyStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Opened at the first use, because commands never need it. */
  readonly sealer: () => Sealer;
}): PlaygroundKeys {
  const { store, clock, random } = parts;
  return {
    create: async ({ session, userName, limits, spendTotal }, author) => {
      const nowMs = clock.nowMs();
      const expiresAtMs = Math.min(nowMs + playgroundLimits.lifeMs, session.expiresAtMs, limits?.expiresAtMs ?? Infinity);
      // Calls come from the console, so a list of the clients' addresses would refuse all of them.
      const { addresses: _clients, prepaid: _ofUsers, ...copied } = limits ?? {};
      const { key, secret } = await createAccounts({ store, clock, random, author }).createApiKey({
        userName,
        name: playgroundKeyName(random),
        limits: { ...copied, spendTotal, expiresAtMs },
      });
      const sealed = parts.sealer().seal(nameOfSecret(session.id, key.id), Buffer.from(secret));
      const kept = { keyId: key.id, sessionId: session.id, createdAtMs: nowMs, expiresAtMs, sealed };
      if (await store.insertPlaygroundKey(kept, playgroundLimits.keysPerSession))
        return { ...kept, name: key.name, userName: key.userName };
      await store.deleteApiKey(key.id, { ...author, atMs: clock.nowMs() });
      return undefined;
    },
    list: (sessionId) => store.listPlaygroundKeys(sessionId, clock.nowMs()),
    secretOf: ({ sessionId, keyId, sealed }) => parts.sealer().open(nameOfSecret(sessionId, keyId), sealed)?.toString('utf8'),
    end: (sessionId, keyId, author) => store.endPlaygroundKey({ sessionId, keyId }, { ...author, atMs: clock.nowMs() }),
    sweep: () => {
      const nowMs = clock.nowMs();
      return store.sweepPlaygroundKeys(nowMs - idleMs, { actor: 'system', via: 'configuration', atMs: nowMs });
    },
  };
}
