import type { BillingToken, FoundBillingToken } from './api-key.ts';

/** What billing tokens need of a store. Every method is one transaction. Names and ids come validated. */
export type BillingTokenStore = {
  /** Returns false when the hash or the name exists. */
  readonly insertBillingToken: (token: BillingToken & { readonly hash: string }) => Promise<boolean>;
  /** By the present secret or by the one before it, whether or not they still open. */
  readonly findBillingTokenByHash: (hash: string) => Promise<FoundBillingToken | undefined>;
  readonly listBillingTokens: () => Promise<readonly BillingToken[]>;
  /**
   * Gives a token another secret. The present one becomes the previous one, which opens until `previousOpensUntilMs`; the one before that is forgotten. Returns false when there is no
   * such token or the hash exists.
   */
  readonly rotateBillingToken: (rotation: {
    readonly tokenId: string;
    readonly hash: string;
    readonly previousOpensUntilMs: number;
  }) => Promise<boolean>;
  /** Notes when a token was used. An earlier moment than the one that is noted, and a token that is gone, change nothing. */
  readonly noteBillingTokenUse: (use: { readonly tokenId: string; readonly usedAtMs: number }) => Promise<void>;
  readonly deleteBillingToken: (tokenId: string) => Promise<boolean>;
};
