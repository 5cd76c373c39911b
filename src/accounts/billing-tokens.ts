import type { ChangeAuthor } from '../audit/change-author.ts';
import type { Clock } from '../platform/clock.ts';
import { AccountsError } from './accounts-error.ts';
import { generateId, generateSecret } from './api-key-format.ts';
import type { RandomBytes } from './api-key-format.ts';
import type { BillingToken } from './api-key.ts';
import type { BillingTokenStore } from './billing-token-store.ts';
import { hashSecret } from './hash-secret.ts';
import { parseChosenSecret } from './parse-chosen-secret.ts';
import { parseName } from './parse-name.ts';

/** The secret is returned here once and cannot be read again. */
type CreatedBillingToken = { readonly token: BillingToken; readonly secret: string };

type TokenNames = { readonly name: string; readonly userName?: string };

/** Manages the credentials of the monitor. Methods reject as those of Accounts do. */
export type BillingTokens = {
  /**
   * Creates a token. With `userName` it sees only the calls of that user; with `expiresAtMs` it is accepted until then.
   * Rejects with `duplicate_name` if the name is in use, and with `invalid_expiry` if the expiry is in the past.
   */
  readonly createBillingToken: (token: TokenNames & { readonly expiresAtMs?: number }) => Promise<CreatedBillingToken>;
  /** As ensureApiKeyWithSecret, for the monitor. A configured token does not expire and has no previous secret. */
  readonly ensureBillingTokenWithSecret: (token: TokenNames & { readonly secret: string }) => Promise<BillingToken>;
  /**
   * Replaces the secret of a token. The present secret is accepted for another `overlapMs`, so that clients can be
   * changed one after the other; the one before it ends at once. Undefined if there is no such token.
   */
  readonly rotateBillingToken: (tokenId: string, overlapMs: number) => Promise<CreatedBillingToken | undefined>;
  readonly listBillingTokens: () => Promise<readonly BillingToken[]>;
  /** Ends both secrets of the token, in every process within about a second. */
  readonly deleteBillingToken: (tokenId: string) => Promise<boolean>;
};

type Dependencies = {
  readonly store: BillingTokenStore & { readonly pepper: () => Promise<string> };
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** The author of the changes. */
  readonly author: ChangeAuthor;
};

/** Several processes that start at once with the same configuration collide in at most one round. */
const ensureAttemptsMax = 5;
const idLength = 10;

export function createBillingTokens(dependencies: Dependencies): BillingTokens {
  const { store, author, clock } = dependencies;
  return {
    createBillingToken: (token) => createBillingToken(dependencies, token),
    ensureBillingTokenWithSecret: (token) => ensureBillingTokenWithSecret(dependencies, token),
    rotateBillingToken: (tokenId, overlapMs) => rotateBillingToken(dependencies, tokenId, overlapMs),
    listBillingTokens: () => store.listBillingTokens(),
    deleteBillingToken: (tokenId) => store.deleteBillingToken(tokenId, { ...author, atMs: clock.nowMs() }),
  };
}

async function createBillingToken(
  dependencies: Dependencies,
  requested: TokenNames & { readonly expiresAtMs?: number },
): Promise<CreatedBillingToken> {
  const names = parseTokenNames(requested);
  const { expiresAtMs } = requested;
  if (expiresAtMs !== undefined && !(expiresAtMs > dependencies.clock.nowMs())) {
    throw new AccountsError(
      'invalid_expiry',
      `The expiry of a billing token must be in the future; got ${new Date(expiresAtMs).toISOString()}.`,
    );
  }
  const { id, secret } = generateSecret('bt-weir', dependencies.random);
  const expiry = expiresAtMs === undefined ? {} : { expiresAtMs };
  const token = await insertBillingToken(dependencies, { id, ...names, ...expiry }, secret);
  if (token === undefined) throw new AccountsError('duplicate_name', `There is already a billing token named ${names.name}.`);
  return { token, secret };
}

async function ensureBillingTokenWithSecret(
  dependencies: Dependencies,
  requested: TokenNames & { readonly secret: string },
): Promise<BillingToken> {
  const { store, random, author, clock } = dependencies;
  const names = parseTokenNames(requested);
  const secret = parseChosenSecret(requested.secret);
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
    // A token has no state except its names: a token of this name with another secret, user or expiry is replaced.
    const namesake = existing ?? (await store.listBillingTokens()).find((token) => token.name === names.name);
    if (namesake !== undefined) await store.deleteBillingToken(namesake.id, { ...author, atMs: clock.nowMs() });
    const inserted = await insertBillingToken(dependencies, { id: generateId(idLength, random), ...names }, secret);
    if (inserted !== undefined) return inserted;
  }
  throw new AccountsError('conflict', `The billing token ${names.name} is being changed by other processes; run the command again.`);
}

async function rotateBillingToken(
  { store, clock, random, author }: Dependencies,
  tokenId: string,
  overlapMs: number,
): Promise<CreatedBillingToken | undefined> {
  const { secret } = generateSecret('bt-weir', random, tokenId.length === idLength ? tokenId : undefined);
  const atMs = clock.nowMs();
  const hash = hashSecret(await store.pepper(), secret);
  const rotation = { tokenId, hash, previousOpensUntilMs: atMs + overlapMs };
  if (!(await store.rotateBillingToken(rotation, { ...author, atMs }))) return undefined;
  const token = (await store.listBillingTokens()).find(({ id }) => id === tokenId);
  return token === undefined ? undefined : { token, secret };
}

/** Undefined if the name or the secret is in use. */
async function insertBillingToken(
  { store, clock, author }: Dependencies,
  requested: Omit<BillingToken, 'createdAtMs'>,
  secret: string,
): Promise<BillingToken | undefined> {
  const token: BillingToken = { ...requested, createdAtMs: clock.nowMs() };
  const hash = hashSecret(await store.pepper(), secret);
  return (await store.insertBillingToken({ ...token, hash }, { ...author, atMs: token.createdAtMs })) ? token : undefined;
}

function parseTokenNames(requested: TokenNames): TokenNames {
  const name = parseName('token name', requested.name);
  return requested.userName === undefined ? { name } : { name, userName: parseName('user name', requested.userName) };
}
