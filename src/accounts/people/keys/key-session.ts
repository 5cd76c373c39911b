/** The credentials beside those of people with which one may sign in, if the configuration allows it. */
export const keySignInWays = ['api_key', 'billing_token'] as const;
export type KeySignInWay = (typeof keySignInWays)[number];

/** The session of a browser that signed in with an API key or a billing token. Times are Unix milliseconds. */
export type KeySession = {
  /** `kse_…`; not secret. */
  readonly id: string;
  readonly way: KeySignInWay;
  /** The id of the key or token. */
  readonly holderId: string;
  /** The hash of the secret with which it was opened: the key is found by it again at each request. */
  readonly secretHash: string;
  /** The number of the last change of the key or token. A later change ends the session. */
  readonly holderVersion: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly address?: string;
  /** What the browser calls itself, cut to 200 characters. */
  readonly userAgent?: string;
};
