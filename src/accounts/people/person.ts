import type { Role } from './permissions.ts';

/** A person's identity at an OIDC provider: `iss` and `sub` of its ID tokens. An e-mail address is never one. */
export type OidcIdentity = { readonly issuer: string; readonly subject: string };

/** Somebody who signs in to administer Weir. A person pays nothing and calls no model; users do. */
export type Person = {
  /** `per_…` */
  readonly id: string;
  /** Unique without regard to case. Follows the rules of parseName. */
  readonly name: string;
  readonly role: Role;
  /** Names of the users that the person owns, sorted. They matter only to the role `owner`. */
  readonly users: readonly string[];
  readonly createdAtMs: number;
  /** Set while the person may not sign in. */
  readonly disabledAtMs?: number;
  readonly hasPassword: boolean;
  readonly identity?: OidcIdentity;
  /** A label. Nothing is found by it. */
  readonly email?: string;
  /** Grows with each change, so that a change of an outdated copy can be refused. */
  readonly revision: number;
};

/** A change of a person. Absent members stay; null removes. */
export type PersonEdit = {
  readonly name?: string;
  readonly role?: Role;
  readonly users?: readonly string[];
  readonly disabled?: boolean;
  readonly email?: string | null;
};

/** The form in which names of people are compared: `Ann` and `ann` are one person. */
export function personNameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
