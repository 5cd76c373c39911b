import type { AdminToken } from '../admin-token.ts';
import type { Permission } from '../permissions.ts';

/**
 * The sign-in of a command line on another machine (RFC 8628): the machine shows a short user code, and a person who is
 * signed in approves it. The machine then gets an admin token for its secret device code.
 */
export type DeviceSignIn = {
  /** `dev_…`; not secret. */
  readonly id: string;
  /** What the machine calls itself: `ann@laptop`. Anybody can claim any name. */
  readonly clientName: string;
  /** From where it was begun. */
  readonly address?: string;
  /** The permissions that it asks for; absent: everything that needs no recent sign-in. */
  readonly permissions?: readonly Permission[];
  /** How long the token is to last, in milliseconds. */
  readonly lastsMs: number;
  readonly createdAtMs: number;
  /** It cannot be approved, and its codes open nothing, from this moment on. */
  readonly expiresAtMs: number;
  readonly state: 'waiting' | 'granted' | 'denied';
};

/** What a person has given to a machine. */
export type DeviceGrant = Pick<AdminToken, 'permissions' | 'users' | 'makerId'>;

/**
 * What a poll with a device code finds. `too-soon`: the machine must wait longer between polls from now on. `unknown`:
 * the code is wrong, was used, or has expired.
 */
export type DevicePoll =
  | { readonly state: 'waiting' | 'denied' | 'unknown' }
  | { readonly state: 'too-soon'; readonly intervalMs: number }
  | { readonly state: 'granted'; readonly token: AdminToken };

/** The first time between two polls. */
export const pollIntervalMs = 2000;
/** How much longer it becomes each time that a machine polls too soon (RFC 8628, section 3.5). */
export const slowDownMs = 5000;
/** Polls that are this much too early are served: timers and networks are not exact. */
export const pollToleranceMs = 500;

const nameCharactersMax = 64;
const numbersMax = 9;

/** Names for the token of a machine, best first: that of the machine, with a number, and with the id of the token. */
export function namesForToken({ clientName }: Pick<DeviceSignIn, 'clientName'>, tokenId: string): readonly string[] {
  const shortened = Array.from(clientName)
    .slice(0, nameCharactersMax - tokenId.length - 1)
    .join('');
  const numbered = Array.from({ length: numbersMax - 1 }, (_, index) => `${shortened} ${index + 2}`);
  return [clientName, ...numbered, `${shortened} ${tokenId}`];
}
