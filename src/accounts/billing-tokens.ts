import type { Clock } from '../platform/clock.ts';
import { AccountsError } from './accounts-error.ts';
import { generateId, generateSecret } from './api-key-format.ts';
import type { RandomBytes } from './api-key-format.ts';
import type { BillingToken } from './api-key.ts';
import type { BillingTokenStore } from './billing-token-store.ts';
import { hashSecret } from './hash-secret.ts';
import { parseChosenSecret } from './parse-chosen-secret.ts';
import { parseName } from './parse-name.ts';

/** A secret is given out here, once; it cannot be read back. */
type CreatedBillingToken = { readonly token: BillingToken; readonly secret: string };

type TokenNames = { readonly name: string; readonly userName?: string };

/** Managing the credentials of the monitor. Methods reject as those of Accounts do. */
export type BillingTokens = {
  /**
   * Creates a token; with a userName it sees only that user's calls, with an expiry it opens until then. `duplicate_name` when the name is taken, `invalid_expiry` when that moment is
   * not to come.
   */
  readonly createBillingToken: (token: TokenNames & { readonly expiresAtMs?: number }) => Promise<CreatedBillingToken>;
  /** As ensureApiKeyWithSecret, for the monitor. A configured token does not expire and has no previous secret. */
  readonly ensureBillingTokenWithSecret: (token: TokenNames & { readonly secret: string }) => Promise<BillingToken>;
  /**
   * Gives a token a new secret. The present one opens for another `overlapMs`, so that readers can be moved one after the other; the one before it ends at once. Undefined when there is
   * no such token.
   */
  readonly rotateBillingToken: (tokenId: string, overlapMs: number) => Promise<CreatedBillingToken | undefined>;
  readonly listBillingTokens: () => Promise<readonly BillingToken[]>;
  /** Both its secrets stop opening, everywhere within about a second. */
  readonly deleteBillingToken: (tokenId: string) => Promise<boolean>;
};

type Dependencies = {
  readonly store: BillingTokenStore & { readonly pepper: () => Promise<string> };
  readonly clock: Clock;
  readonly random: RandomBytes;
};

/** Several processes that start at once with one configuration get in each other's way for a round at most. */
const ensureAttemptsMax = 5;
const idLength = 10;

export function createBillingTokens(dependencies: Dependencies): BillingTokens {
  const { store } = dependencies;
  return {
    createBillingToken: (token) => createBillingToken(dependencies, token),
    ensureBillingTokenWithSecret: (token) => ensureBillingTokenWithSecret(dependencies, token),
    rotateBillingToken: (tokenId, overlapMs) => rotateBillingToken(dependencies, tokenId, overlapMs),
    listBillingTokens: () => store.listBillingTokens(),
    deleteBillingToken: (tokenId) => store.deleteBillingToken(tokenId),
  };
}

async function createBillingToken(
  dependencies: Dependencies,
  wanted: TokenNames & { readonly expiresAtMs?: number },
): Promise<CreatedBillingToken> {
  const names = parseTokenNames(wanted);
  const { expiresAtMs } = wanted;
  if (expiresAtMs !== undefined && !(expiresAtMs > dependencies.clock.nowMs())) {
    throw new AccountsError('invalid_expiry', 'A billing token has to expire in the future.');
  }
  const { id, secret } = generateSecret('bt-weir', dependencies.random);
  const expiry = expiresAtMs === undefined ? {} : { expiresAtMs };
  const token = await insertBillingToken(dependencies, { id, ...names, ...expiry }, secret);
  if (token === undefined) throw new AccountsError('duplicate_name', `There is already a billing token named ${names.name}.`);
  return { token, secret };
}

async function ensureBillingTokenWithSecret(
  dependencies: Dependencies,
  wanted: TokenNames & { readonly secret: string },
): Promise<BillingToken> {
  const { store, random } = dependencies;
  const names = parseTokenNames(wanted);
  const secret = parseChosenSecret(wanted.secret);
  const hash = hashSecret(await store.pepper(), secret);
  for (let attempt = 0; attempt < ensureAttemptsMax; attempt += 1) {
    const existing = await store.findBillingTokenByHash(hash);
    if (existing !== undefined) {
      if (existing.name !== names.name) {
        throw new AccountsError('secret_in_use', `This secret already opens the billing token ${existing.name}.`);
      }
      const lasts = existing.byPreviousSecret === undefined && existing.expiresAtMs === undefined;
      if (lasts && existing.userName === names.userName) return existing;
    }
    // A token has no state but its names: one that sees other calls than it should, has another secret, or ends, makes room.
    const namesake = existing ?? (await store.listBillingTokens()).find((token) => token.name === names.name);
    if (namesake !== undefined) await store.deleteBillingToken(namesake.id);
    const inserted = await insertBillingToken(dependencies, { id: generateId(idLength, random), ...names }, secret);
    if (inserted !== undefined) return inserted;
  }
  throw new AccountsError('conflict', `The billing token ${names.name} is being changed by other processes; try again.`);
}

async function rotateBillingToken(
  { store, clock, random }: Dependencies,
  tokenId: string,
  overlapMs: number,
): Promise<CreatedBillingToken | undefined> {
  const { secret } = generateSecret('bt-weir', random, tokenId.length === idLength ? tokenId : undefined);
  const previousOpensUntilMs = clock.nowMs() + overlapMs;
  const hash = hashSecret(await store.pepper(), secret);
  if (!(await store.rotateBillingToken({ tokenId, hash, previousOpensUntilMs }))) return undefined;
  const token = (await store.listBillingTokens()).find(({ id }) => id === tokenId);
  return token === undefined ? undefined : { token, secret };
}

/** Undefined when the store refuses: the name or the secret is taken. */
async function insertBillingToken(
  { store, clock }: Dependencies,
  wanted: Omit<BillingToken, 'createdAtMs'>,
  secret: string,
): Promise<BillingToken | undefined> {
  const token: BillingToken = { ...wanted, createdAtMs: clock.nowMs() };
  const hash = hashSecret(await store.pepper(), secret);
  return (await store.insertBillingToken({ ...token, hash })) ? token : undefined;
}

function parseTokenNames(wanted: TokenNames): TokenNames {
  const name = parseName('token name', wanted.name);
  return wanted.userName === undefined ? { name } : { name, userName: parseName('user name', wanted.userName) };
}
