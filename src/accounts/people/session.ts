import type { Person } from './person.ts';

/** How somebody signed in. */
export const signInWays = ['link', 'password', 'oidc'] as const;
export type SignInWay = (typeof signInWays)[number];

/** A signed-in browser of a person. Times are Unix milliseconds. */
export type Session = {
  /** `ses_…`; not secret. */
  readonly id: string;
  readonly personId: string;
  readonly way: SignInWay;
  readonly createdAtMs: number;
  /** When the person last proved who it is: at the sign-in or a later confirmation. */
  readonly signedInAtMs: number;
  /** Since when the session has its present token. */
  readonly tokenSinceMs: number;
  /** When it was last used, to about a minute. */
  readonly usedAtMs: number;
  /** It ends then, however much it is used. */
  readonly expiresAtMs: number;
  readonly address?: string;
  /** What the browser calls itself, cut to 200 characters. */
  readonly userAgent?: string;
};

/** A session that was found by the hash of a token. Whether the token still opens it depends on the time. */
export type FoundSession = {
  readonly session: Session;
  readonly person: Person;
  /** Set if the token is the previous one: it opens the session until this time. */
  readonly previousUntilMs?: number;
};
