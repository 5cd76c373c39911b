import type { Change } from '../audit/change-author.ts';
import type { BillingToken, FoundBillingToken } from './api-key.ts';

/** The store that billing tokens need. Every method is one transaction. Names and ids are validated before the call. */
export type BillingTokenStore = {
  /** Returns false when the hash or the name exists. */
  readonly insertBillingToken: (token: BillingToken & { readonly hash: string }, change: Change) => Promise<boolean>;
  /** Finds a token by its present or its previous secret, whether or not they are still accepted. */
  readonly findBillingTokenByHash: (hash: string) => Promise<FoundBillingToken | undefined>;
  readonly listBillingTokens: () => Promise<readonly BillingToken[]>;
  /**
   * Replaces the secret of a token. The present secret becomes the previous one, which is accepted until
   * `previousOpensUntilMs`; the one before it is removed. Returns false if there is no such token or the hash exists.
   */
  readonly rotateBillingToken: (
    rotation: { readonly tokenId: string; readonly hash: string; readonly previousOpensUntilMs: number },
    change: Change,
  ) => Promise<boolean>;
  /** Records when a token was used. A moment before the recorded one, or a deleted token, changes nothing. */
  readonly noteBillingTokenUse: (use: { readonly tokenId: string; readonly usedAtMs: number }) => Promise<void>;
  readonly deleteBillingToken: (tokenId: string, change: Change) => Promise<boolean>;
};
