import { randomBytes } from 'node:crypto';

/** A token and whom it stands for. */
type GoogleToken = { readonly token: string; readonly identity: string; readonly expiresInSeconds: number };

/** Issues and judges the access tokens of a simulated Google Cloud. */
export type GoogleTokens = {
  readonly issue: (identity: string) => GoogleToken;
  /** The identity of a token that is accepted now. */
  readonly find: (token: string) => string | undefined;
  /** Ends all tokens at once. */
  readonly revoke: () => void;
  /** The time of the cloud. */
  readonly nowMs: () => number;
};

/** @param liveSeconds how long a token is accepted */
export function createGoogleTokens(nowMs: () => number, liveSeconds: number): GoogleTokens {
  const issued = new Map<string, { readonly identity: string; readonly endsMs: number }>();
  return {
    issue: (identity) => {
      const token = `ya29.simulated-${randomBytes(16).toString('base64url')}`;
      issued.set(token, { identity, endsMs: nowMs() + liveSeconds * 1000 });
      return { token, identity, expiresInSeconds: liveSeconds };
    },
    find: (token) => {
      const found = issued.get(token);
      return found !== undefined && nowMs() < found.endsMs ? found.identity : undefined;
    },
    revoke: () => issued.clear(),
    nowMs,
  };
}
