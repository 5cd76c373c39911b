/** A token that the simulated Vault knows. */
export type KnownToken = {
  /** The paths of its policy: `secret/data/weir/*`. */
  readonly reads: readonly string[];
  /** The namespace that it is for; empty: the root. */
  readonly namespace: string;
  /** Absent: it does not end. */
  expiresAtMs?: number;
  /** When it ends at the latest, however often it is renewed. Absent: renewals have no limit. */
  readonly endsAtMs?: number;
  readonly isRenewable: boolean;
  /** How often it may still be used. Absent: without a limit. */
  usesLeft?: number;
};

type SecretVersion = { readonly data: Readonly<Record<string, unknown>>; deletedAtMs?: number; isDestroyed?: boolean };

/** A role of the login method `kubernetes`. */
type PodRole = { readonly names: readonly string[]; readonly namespaces: readonly string[]; readonly audience?: string };

/** An app role: how often each of its secret ids may still be used. Without secret ids it needs none. */
type AppRole = { readonly secretIds: Map<string, number> | undefined };

/** The memory of a simulated Vault, which tests change while it runs. */
export type VaultState = {
  isSealed: boolean;
  /** Every request is answered with this status. 0: it works. */
  failingStatus: number;
  /** The namespace in which everything is; empty: the root. */
  namespace: string;
  /** Where the login methods are: by path, `kubernetes` or `approle`. */
  readonly mounts: Map<string, 'kubernetes' | 'approle'>;
  readonly tokens: Map<string, KnownToken>;
  readonly podRoles: Map<string, PodRole>;
  /** Tokens of pods that Kubernetes confirms. */
  readonly podTokens: Set<string>;
  readonly appRoles: Map<string, AppRole>;
  /** What tokens of a login may read. */
  loginReads: readonly string[];
  /** How long tokens of a login live, and how long they can be renewed. */
  tokenSeconds: number;
  tokenSecondsMax: number;
  /** Whether tokens of a login can be renewed. Batch tokens cannot. */
  areRenewable: boolean;
  /** How often a token of a login may be used. 0: without a limit. */
  tokenUses: number;
  /** KV engines of version 2: versions by path, by mount. */
  readonly engines: Map<string, Map<string, SecretVersion[]>>;
  readonly requests: { readonly method: string; readonly path: string; readonly status: number }[];
};

export function createVaultState(): VaultState {
  return {
    isSealed: false,
    failingStatus: 0,
    namespace: '',
    mounts: new Map([
      ['kubernetes', 'kubernetes'],
      ['approle', 'approle'],
    ]),
    tokens: new Map(),
    podRoles: new Map([['weir', { names: ['weir'], namespaces: ['models'] }]]),
    podTokens: new Set(),
    appRoles: new Map(),
    loginReads: ['secret/data/weir/*'],
    tokenSeconds: 3600,
    tokenSecondsMax: 32 * 86_400,
    areRenewable: true,
    tokenUses: 0,
    engines: new Map([['secret', new Map<string, SecretVersion[]>()]]),
    requests: [],
  };
}

export type Reply = { readonly status: number; readonly body: object };
export const errors = (status: number, ...words: readonly string[]): Reply => ({ status, body: { errors: words } });
export const denied = (): Reply => errors(403, '1 error occurred:\n\t* permission denied\n\n');
