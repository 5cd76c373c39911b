import type { Change } from '../../audit/change-author.ts';
import type { OidcIdentity, Person, PersonEdit } from './person.ts';

/** Finds one person. Names are compared without regard to case. */
export type PersonReference = { readonly id: string } | { readonly name: string } | { readonly identity: OidcIdentity };

/** A person or token at the revision that the author of a change has seen; undefined accepts any revision. */
export type Expected = { readonly id: string; readonly revision?: number | undefined };

/** Why a change of a person was not made. Nothing was changed. */
export type PersonRefusal = 'unknown' | 'stale' | 'duplicate_name' | 'last_operator';

/**
 * The store that people need. Every method is one transaction, which also writes the row of the audit log. Names and
 * ids are validated before the call.
 */
export type PeopleStore = {
  /** Inserts a person with revision 1. Refuses a name or an identity that another person has. */
  readonly insertPerson: (
    person: Omit<Person, 'hasPassword' | 'revision'>,
    change: Change,
  ) => Promise<Person | 'duplicate_name' | 'duplicate_identity'>;
  /** All people, oldest first. */
  readonly listPeople: () => Promise<readonly Person[]>;
  readonly findPerson: (reference: PersonReference) => Promise<Person | undefined>;
  /**
   * Changes a person. A change of the role ends the person's sessions; disabling also removes sign-in codes. The last
   * enabled operator stays one.
   */
  readonly changePerson: (expected: Expected, edit: PersonEdit, change: Change) => Promise<Person | PersonRefusal>;
  /** Removes a person with sessions, sign-in codes and the admin tokens that it made. */
  readonly deletePerson: (expected: Expected, change: Change) => Promise<Person | PersonRefusal>;
  /** The text of hashPassword; undefined if there is no such person, or it has no password. */
  readonly findPasswordHash: (personId: string) => Promise<string | undefined>;
  /**
   * Sets or removes a password, and ends the person's sessions, except `keepSessionId`, and sign-in codes. False if
   * there is no such person.
   */
  readonly setPasswordHash: (
    password: { readonly personId: string; readonly hash: string | undefined; readonly keepSessionId?: string | undefined },
    change: Change,
  ) => Promise<boolean>;
  /**
   * Replaces the hash of an unchanged password by one with newer parameters, if the hash is still `previousHash`. The
   * audit log has no row of it.
   */
  readonly renewPasswordHash: (renewal: {
    readonly personId: string;
    readonly previousHash: string;
    readonly hash: string;
  }) => Promise<void>;
};
