import type { Change } from '../../../audit/change-author.ts';
import type { SignInChange } from '../session-store.ts';
import type { DeviceGrant, DevicePoll, DeviceSignIn } from './device-sign-in.ts';

/** A sign-in to begin. Only hashes of its codes are stored. */
export type NewDeviceSignIn = Omit<DeviceSignIn, 'state'> & { readonly deviceHash: string; readonly userHash: string };

/** The decision of a person, or of a local command: a grant, or a refusal. */
type DeviceDecision = {
  readonly userHash: string;
  /** Absent: refused. */
  readonly grant?: DeviceGrant;
  /** The machine has at least until then to fetch its token. */
  readonly expiresAtLeastMs: number;
};

/** The token that a poll makes if the sign-in was granted. */
type NewDeviceToken = { readonly id: string; readonly hash: string; readonly hint: string };

/** The store that device sign-ins need. Every method is one transaction. */
export type DeviceSignInStore = {
  /** Removes those that have expired. `full`: `waitingMax` exist. `taken`: one with this user code exists. */
  readonly insertDeviceSignIn: (signIn: NewDeviceSignIn, waitingMax: number) => Promise<'inserted' | 'taken' | 'full'>;
  /** The sign-in of a user code that has not expired. */
  readonly findDeviceSignIn: (userHash: string, nowMs: number) => Promise<DeviceSignIn | undefined>;
  /** Decides once, and writes the row of the audit log. `decided`: somebody else decided before. */
  readonly decideDeviceSignIn: (decision: DeviceDecision, change: Change) => Promise<'done' | 'unknown' | 'decided'>;
  /**
   * A poll with a device code. Of a granted sign-in it makes the token and uses up the code; the row of the audit log
   * names who granted it. `denied` also uses up the code: also if the person who granted it was disabled meanwhile.
   */
  readonly pollDeviceSignIn: (
    poll: { readonly deviceHash: string; readonly token: NewDeviceToken },
    change: SignInChange,
  ) => Promise<DevicePoll>;
};
