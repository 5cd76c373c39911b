import type { ChangeAuthor } from '../../../audit/change-author.ts';
import { createAllowances } from '../../../platform/allowances.ts';
import type { Clock } from '../../../platform/clock.ts';
import { generateSecret, type RandomBytes, randomText } from '../../api-key-format.ts';
import { hashSecret } from '../../hash-secret.ts';
import { networkOf } from '../../network-of.ts';
import { parseName } from '../../parse-name.ts';
import { choosePermissions, chooseUsers, hintLength, type TokenMaker } from '../admin-tokens.ts';
import { PeopleError } from '../people-error.ts';
import { type Permission, permissions as allPermissions } from '../permissions.ts';
import { protectedPermissions, withinUsers } from '../permissions-of.ts';
import type { UserScope } from '../principal.ts';
import { generateToken, type Origin } from '../sessions.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import { type DeviceGrant, type DevicePoll, type DeviceSignIn, pollIntervalMs } from './device-sign-in.ts';
import type { DeviceSignInStore } from './device-sign-in-store.ts';

/** Too many requests of this kind from this address or person. */
export type DeviceLimit = { readonly retryAfterSeconds: number };

/** A sign-in that a machine has begun. Both codes are returned here once and cannot be read again. */
type BegunDeviceSignIn = {
  /** The machine's own secret. */
  readonly deviceCode: string;
  /** What the person types or follows: `BCDFG-HJKLM`. */
  readonly userCode: string;
  readonly expiresAtMs: number;
  readonly intervalMs: number;
};

/** A sign-in as the person sees it who decides, and what the machine would get. */
export type OpenDeviceSignIn = { readonly signIn: DeviceSignIn; readonly grant: DeviceGrant };

/** What the person changes of the grant. */
type GrantChoice = { readonly permissions?: readonly string[]; readonly users?: readonly string[] };

/**
 * Signs in command lines of other machines (RFC 8628). Methods reject with PeopleError or AccountsError `invalid_name`
 * for a mistake, and with the store's error.
 */
export type DeviceSignIns = {
  /** Limited by address; anybody may call it. */
  readonly begin: (
    request: { readonly clientName: string; readonly permissions?: readonly Permission[]; readonly lastsMs?: number },
    origin: Origin,
  ) => Promise<BegunDeviceSignIn | DeviceLimit>;
  /** The sign-in of a user code, and what it would get. Wrong codes are limited as wrong passwords are. */
  readonly find: (userCode: string, approver: TokenMaker, origin: Origin) => Promise<OpenDeviceSignIn | undefined | DeviceLimit>;
  /**
   * Gives the machine a part of what the approver may do: by default what it asks for, as far as the approver has it.
   * Undefined: there is no such code. `decided`: somebody has decided before.
   */
  readonly approve: (
    userCode: string,
    choice: GrantChoice,
    approver: TokenMaker,
    author: ChangeAuthor,
  ) => Promise<OpenDeviceSignIn | 'decided' | undefined | DeviceLimit>;
  /** As `approve`. */
  readonly deny: (userCode: string, approver: TokenMaker, author: ChangeAuthor) => Promise<'denied' | 'decided' | undefined | DeviceLimit>;
  /** A poll of the machine. The secret is returned once. */
  readonly poll: (
    deviceCode: string,
    origin: Origin,
  ) => Promise<Exclude<DevicePoll, { state: 'granted' }> | (Extract<DevicePoll, { state: 'granted' }> & { secret: string }) | DeviceLimit>;
};

export type DeviceSignInDependencies = {
  readonly store: DeviceSignInStore & { readonly pepper: () => Promise<string> };
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly ids: (prefix: string) => string;
  /** Of wrong user codes. Not those of passwords, so that neither uses up the other. */
  readonly limits: SignInLimits;
};

/** Consonants, so that a code spells no word and has no letter that looks like a digit (RFC 8628, section 6.1). */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
/** Ten of twenty letters are 43 bits. */
const userCodeLength = 10;
const userCodePattern = new RegExp(`^[${userCodeLetters}]{${userCodeLength}}$`);
const deviceCodePattern = /^[0-9A-Za-z]{43}$/;

const lifetimeMs = 10 * 60_000;
/** A code that is approved in its last second must still be fetched. */
const fetchMs = 60_000;
const dayMs = 86_400_000;
const lastsMsMax = 90 * dayMs;
const lastsMsMin = 60_000;
/** A flood of sign-ins must not fill the disk; each is gone after ten minutes. */
const waitingMax = 10_000;
const beginsPerMinute = 30;
const wrongCodesPerMinute = 30;
/** Of 2^43 codes at most 10,000 are taken. */
const codeAttemptsMax = 3;

/** The letters of a user code as a person types it: in any case, with spaces and dashes. Undefined if it is none. */
export function parseUserCode(text: string): string | undefined {
  if (text.length > 64) return undefined;
  const letters = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return userCodePattern.test(letters) ? letters : undefined;
}

const showUserCode = (letters: string): string => `${letters.slice(0, userCodeLength / 2)}-${letters.slice(userCodeLength / 2)}`;

export function createDeviceSignIns(dependencies: DeviceSignInDependencies): DeviceSignIns {
  const { store, clock, random } = dependencies;
  const begins = createAllowances(beginsPerMinute, clock);
  const wrongCodes = createAllowances(wrongCodesPerMinute, clock);

  return {
    begin: async (request, origin) => {
      const network = networkOf(origin.address ?? '');
      const retryAfterSeconds = begins.waitSeconds(network);
      if (retryAfterSeconds > 0) return { retryAfterSeconds };
      begins.take(network);
      return await begin(dependencies, request, origin);
    },
    find: (userCode, approver, origin) => findOpen(dependencies, userCode, approver, origin),
    approve: async (userCode, choice, approver, author) => {
      const open = await findOpen(dependencies, userCode, approver, author);
      if (open === undefined || 'retryAfterSeconds' in open) return open;
      const grant = { ...open.grant, ...chooseGrant(choice, open.grant, approver) };
      if (grant.permissions.length === 0)
        throw new PeopleError('not_permitted', 'You have none of the permissions that the machine asks for.');
      const decided = await decide(dependencies, userCode, grant, author);
      return decided === 'done' ? { signIn: { ...open.signIn, state: 'granted' }, grant } : decided;
    },
    deny: async (userCode, approver, author) => {
      const open = await findOpen(dependencies, userCode, approver, author);
      if (open === undefined || 'retryAfterSeconds' in open) return open;
      const decided = await decide(dependencies, userCode, undefined, author);
      return decided === 'done' ? 'denied' : decided;
    },
    poll: async (deviceCode, { address, requestId }) => {
      const network = networkOf(address ?? '');
      const retryAfterSeconds = wrongCodes.waitSeconds(network);
      if (retryAfterSeconds > 0) return { retryAfterSeconds };
      const isCode = deviceCodePattern.test(deviceCode);
      const pepper = await store.pepper();
      const { id, secret } = generateSecret('at-weir', random);
      const token = { id, hash: hashSecret(pepper, secret), hint: secret.slice(-hintLength) };
      const from = { ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
      const change = { via: 'api', atMs: clock.nowMs(), ...from } as const;
      const deviceHash = hashSecret(pepper, deviceCode);
      const polled = isCode ? await store.pollDeviceSignIn({ deviceHash, token }, change) : ({ state: 'unknown' } as const);
      if (polled.state === 'unknown') wrongCodes.take(network);
      return polled.state === 'granted' ? { ...polled, secret } : polled;
    },
  };
}

async function begin(
  { store, clock, random, ids }: DeviceSignInDependencies,
  request: Parameters<DeviceSignIns['begin']>[0],
  { address }: Origin,
): Promise<BegunDeviceSignIn | DeviceLimit> {
  const clientName = parseName('name of the machine', request.clientName);
  const { permissions, lastsMs = lastsMsMax } = request;
  if (!(lastsMs >= lastsMsMin && lastsMs <= lastsMsMax))
    throw new PeopleError('invalid_expiry', 'The token of a machine must last at least a minute and at most 90 days.');
  const pepper = await store.pepper();
  const createdAtMs = clock.nowMs();
  const expiresAtMs = createdAtMs + lifetimeMs;
  const deviceCode = generateToken(random);
  for (let attempt = 0; attempt < codeAttemptsMax; attempt += 1) {
    const letters = randomText(userCodeLength, random, userCodeLetters);
    const hashes = { deviceHash: hashSecret(pepper, deviceCode), userHash: hashSecret(pepper, letters) };
    const asked = { ...(permissions === undefined ? {} : { permissions }), ...(address === undefined ? {} : { address }) };
    const signIn = { id: ids('dev'), clientName, lastsMs, createdAtMs, expiresAtMs, ...asked, ...hashes };
    const inserted = await store.insertDeviceSignIn(signIn, waitingMax);
    if (inserted === 'inserted') return { deviceCode, userCode: showUserCode(letters), expiresAtMs, intervalMs: pollIntervalMs };
    if (inserted === 'full') break;
  }
  return { retryAfterSeconds: lifetimeMs / 1000 };
}

/** The sign-in of a user code that waits or was decided. A wrong code counts; one that cannot be a code does not. */
async function findOpen(
  { store, clock, limits }: DeviceSignInDependencies,
  userCode: string,
  approver: TokenMaker,
  { address }: Origin,
): Promise<OpenDeviceSignIn | undefined | DeviceLimit> {
  const letters = parseUserCode(userCode);
  if (letters === undefined) return undefined;
  const { personId } = approver;
  const attempt = personId === undefined ? undefined : limits.begin({ personId, name: '', address });
  if (attempt !== undefined && 'retryAfterSeconds' in attempt) return attempt;
  const signIn = await store.findDeviceSignIn(hashSecret(await store.pepper(), letters), clock.nowMs());
  if (signIn === undefined) return undefined;
  attempt?.takeBack();
  const asked = signIn.permissions ?? allPermissions.filter((each) => !protectedPermissions.has(each));
  const makerId = personId ?? approver.makerId;
  const permissions = asked.filter((each) => approver.permissions.has(each));
  return { signIn, grant: { permissions, users: approver.users, ...(makerId === undefined ? {} : { makerId }) } };
}

function chooseGrant(
  { permissions, users }: GrantChoice,
  offered: DeviceGrant,
  maker: TokenMaker,
): { readonly permissions: readonly Permission[]; readonly users: UserScope } {
  const chosen = chooseUsers(users, maker.users);
  const possible = withinUsers(new Set(offered.permissions), chosen);
  return {
    permissions: permissions === undefined ? [...possible] : choosePermissions(permissions, maker, chosen),
    users: chosen,
  };
}

async function decide(
  { store, clock }: DeviceSignInDependencies,
  userCode: string,
  grant: DeviceGrant | undefined,
  author: ChangeAuthor,
): Promise<'done' | 'decided' | undefined> {
  const atMs = clock.nowMs();
  const userHash = hashSecret(await store.pepper(), parseUserCode(userCode) ?? '');
  const decision = { userHash, expiresAtLeastMs: atMs + fetchMs, ...(grant === undefined ? {} : { grant }) };
  const decided = await store.decideDeviceSignIn(decision, { ...author, atMs });
  return decided === 'unknown' ? undefined : decided;
}
