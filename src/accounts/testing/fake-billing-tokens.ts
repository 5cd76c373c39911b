import type { BillingToken } from '../api-key.ts';
import type { BillingTokenStore } from '../billing-token-store.ts';

type StoredBillingToken = BillingToken & { readonly hash: string; readonly previousHash?: string };

type Methods = {
  readonly [Name in keyof BillingTokenStore]: (
    ...parameters: Parameters<BillingTokenStore[Name]>
  ) => Awaited<ReturnType<BillingTokenStore[Name]>>;
};

/** The billing tokens of an in-memory store, for tests. */
export function createFakeBillingTokens(): Methods {
  let tokens: StoredBillingToken[] = [];
  const change = (tokenId: string, changed: (token: StoredBillingToken) => StoredBillingToken): void => {
    tokens = tokens.map((token) => (token.id === tokenId ? changed(token) : token));
  };
  return {
    insertBillingToken: (token) => {
      if (tokens.some((other) => other.hash === token.hash || other.name === token.name)) return false;
      tokens.push(token);
      return true;
    },
    findBillingTokenByHash: (hash) => {
      const found = tokens.find((token) => token.hash === hash || token.previousHash === hash);
      if (found === undefined) return undefined;
      return { ...withoutHashes(found), ...(found.hash === hash ? {} : { byPreviousSecret: true }) };
    },
    listBillingTokens: () => tokens.map(withoutHashes),
    rotateBillingToken: ({ tokenId, hash, previousOpensUntilMs }) => {
      if (tokens.some((token) => token.hash === hash) || !tokens.some(({ id }) => id === tokenId)) return false;
      change(tokenId, (token) => ({ ...token, hash, previousHash: token.hash, previousOpensUntilMs }));
      return true;
    },
    noteBillingTokenUse: ({ tokenId, usedAtMs }) => {
      change(tokenId, (token) => ({ ...token, lastUsedAtMs: Math.max(usedAtMs, token.lastUsedAtMs ?? usedAtMs) }));
    },
    deleteBillingToken: (tokenId) => {
      const before = tokens.length;
      tokens = tokens.filter((token) => token.id !== tokenId);
      return tokens.length < before;
    },
  };
}

function withoutHashes({ hash: _hash, previousHash: _previous, ...token }: StoredBillingToken): BillingToken {
  return token;
}
