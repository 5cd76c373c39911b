import type { Change } from '../../audit/change-author.ts';
import type { AdminToken, FoundAdminToken } from './admin-token.ts';
import type { Expected } from './people-store.ts';

/** The store that admin tokens need. Every method is one transaction; changes write their row of the audit log. */
export type AdminTokenStore = {
  /** Inserts a token with revision 1. False if the hash or the name exists. */
  readonly insertAdminToken: (
    token: Omit<AdminToken, 'revision' | 'lastUsedAtMs' | 'previousOpensUntilMs'> & { readonly hash: string },
    change: Change,
  ) => Promise<boolean>;
  /** Finds a token by its present or its previous secret, whether or not they are still accepted. */
  readonly findAdminTokenByHash: (hash: string) => Promise<FoundAdminToken | undefined>;
  /** All tokens, expired ones included, oldest first. */
  readonly listAdminTokens: () => Promise<readonly AdminToken[]>;
  /**
   * Replaces the secret of a token. The present secret becomes the previous one, which is accepted until
   * `previousOpensUntilMs`; the one before it is removed.
   */
  readonly rotateAdminToken: (
    rotation: Expected & { readonly hash: string; readonly hint: string; readonly previousOpensUntilMs: number },
    change: Change,
  ) => Promise<'rotated' | 'unknown' | 'stale'>;
  /** Records when a token was used. A moment before the recorded one, or a deleted token, changes nothing. */
  readonly noteAdminTokenUse: (use: { readonly tokenId: string; readonly usedAtMs: number }) => Promise<void>;
  readonly deleteAdminToken: (expected: Expected, change: Change) => Promise<'deleted' | 'unknown' | 'stale'>;
};
