import type { AccessLimits, RateLimits } from '../access-limits.ts';

/** The algorithms of signatures that can be allowed: all have a public key. */
export const tokenAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;
type TokenAlgorithm = (typeof tokenAlgorithms)[number];

/** A service whose signed tokens are credentials of calls. */
export type TokenIssuer = {
  /** How keys, logs and the audit log name it. Part of the identity of its keys. */
  readonly name: string;
  /** The claim `iss` of its tokens, compared exactly. */
  readonly issuer: string;
  /** The claim `aud` must name at least one audience of this list. */
  readonly audiences: readonly string[];
  /** The address of its public keys. Undefined: the one that its discovery document names. */
  readonly jwksUrl: string | undefined;
  readonly algorithms: readonly TokenAlgorithm[];
  /** Templates of the names of user and key, see `claim-names.ts`. */
  readonly user: string;
  readonly key: string;
  /** The template of the team that a user joins if it has none. Undefined: none. */
  readonly team?: string | undefined;
  /** Claims that a token must have, with the values that are allowed. A value may end in `*`. */
  readonly claims: Readonly<Record<string, readonly string[]>>;
  /** The limits of its keys that have no such limit of their own. */
  readonly limits: RateLimits & Pick<AccessLimits, 'models' | 'addresses'>;
  /** The most keys that its tokens may create. */
  readonly keysMax: number;
};

/** Tokens of more characters are refused before they are parsed. */
export const tokenCharactersMax = 16_384;
/** How far the clocks of issuer and gateway may differ. */
export const tokenLeewaySeconds = 60;
