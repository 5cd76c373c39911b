import type { Role } from '../permissions.ts';

/** A claim, and the name for each of its values. Without a map, its values are the names. */
export type ClaimedNames = { readonly claim: string; readonly map?: Readonly<Record<string, string>> };

/** How people sign in at a provider of OpenID Connect. */
export type OidcSettings = {
  /** The provider, as its ID tokens name it. http is accepted for a loopback address only. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** Requested beside `openid`. */
  readonly scopes: readonly string[];
  /**
   * The claim that decides about roles, such as `groups` or `realm_access.roles`, and the role of each of its values. A
   * person without a mapped role does not get in.
   */
  readonly roles: { readonly claim: string; readonly map: Readonly<Record<string, Role>> };
  /**
   * The claim that names the users that a person owns. With a map, only its values count and name the users. Absent:
   * users of people are set by hand, or come from their teams.
   */
  readonly users?: ClaimedNames;
  /** The claim that names teams, in the same way: a person owns the users that are in them when it signs in. */
  readonly teams?: ClaimedNames;
};
