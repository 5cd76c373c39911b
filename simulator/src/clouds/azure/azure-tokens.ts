import { hash } from 'node:crypto';

/** A token of the simulated Entra ID. */
type AzureToken = {
  readonly audience: string;
  /** The application or managed identity that it stands for. */
  readonly clientId: string;
  readonly expiresAtMs: number;
};

type TokenVerdict = 'accepted' | 'wrong-audience' | 'expired' | 'revoked' | 'unknown';

/** The tokens that a simulated cloud has issued. They mean nothing elsewhere. */
export type AzureTokens = {
  readonly issue: (audience: string, clientId: string) => { readonly token: string; readonly expiresInSeconds: number };
  readonly judge: (token: string, audiences: readonly string[]) => TokenVerdict;
  readonly find: (token: string) => AzureToken | undefined;
  /** No token issued until now is accepted any longer. */
  readonly revokeAll: () => void;
  readonly issued: () => number;
};

/** @param lifeSeconds how long tokens live */
export function createAzureTokens(nowMs: () => number, lifeSeconds: number): AzureTokens {
  const tokens = new Map<string, AzureToken>();
  let revokedUntil = 0;
  let count = 0;
  const numbers = new Map<string, number>();
  return {
    issue(audience, clientId) {
      count += 1;
      const token = `eyJ.simulated-entra.${hash('sha256', `${count} ${audience} ${clientId}`).slice(0, 40)}`;
      tokens.set(token, { audience, clientId, expiresAtMs: nowMs() + lifeSeconds * 1000 });
      numbers.set(token, count);
      return { token, expiresInSeconds: lifeSeconds };
    },
    judge(token, audiences) {
      const found = tokens.get(token);
      if (found === undefined) return 'unknown';
      if ((numbers.get(token) ?? 0) <= revokedUntil) return 'revoked';
      if (nowMs() >= found.expiresAtMs) return 'expired';
      return audiences.includes(found.audience) ? 'accepted' : 'wrong-audience';
    },
    find: (token) => tokens.get(token),
    revokeAll() {
      revokedUntil = count;
    },
    issued: () => count,
  };
}
