import { configurationAuthor } from '../../audit/change-author.ts';
import { randomBytes } from 'node:crypto';

import { type Accounts, createAccounts } from '../../accounts/create-accounts.ts';
import type { Clock } from '../../platform/clock.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Store } from '../../store/store.ts';
import { AccountsError } from '../../accounts/accounts-error.ts';
import { type Environment, StartError } from '../environment.ts';
import { remembersKeys } from './remember-keys.ts';

/** Secrets that were generated at this start, to be shown once. */
export type FirstCredentials = { readonly newApiKey: string | undefined; readonly newBillingToken: string | undefined };

const firstUser = 'admin';
const firstName = 'default';

/**
 * Ensures that an API key and a billing token exist: those of the environment, or else, in an empty database, generated
 * ones. Only generated secrets are returned, and configured ones are never printed.
 */
export async function ensureFirstCredentials(options: {
  readonly store: Store;
  readonly environment: Environment;
  readonly clock: Clock;
}): Promise<FirstCredentials> {
  const { store, environment, clock } = options;
  const accounts = createAccounts({ store, clock, random: randomBytes, author: configurationAuthor });
  try {
    return {
      newApiKey: await ensureApiKey(accounts, store, environment),
      newBillingToken: await ensureBillingToken(accounts, store, environment),
    };
  } catch (error) {
    // A monitor with a read-only role creates none.
    // A gateway with remembered keys can wait for its database.
    const isGoodEnough =
      error instanceof StoreError && (error.kind === 'read-only' || (error.kind === 'unavailable' && remembersKeys(environment)));
    if (isGoodEnough) return { newApiKey: undefined, newBillingToken: undefined };
    throw error;
  }
}

async function ensureApiKey(accounts: Accounts, store: Store, environment: Environment): Promise<string | undefined> {
  if (environment.apiKey !== undefined) {
    const secret = environment.apiKey;
    await nameVariable('WEIR_API_KEY', () => accounts.ensureApiKeyWithSecret({ userName: firstUser, name: firstName, secret }));
    return undefined;
  }
  if ((await store.listApiKeys({ limit: 1 })).length > 0) return undefined;
  return await unlessMade(async () => (await accounts.createApiKey({ userName: firstUser, name: firstName })).secret);
}

async function ensureBillingToken(accounts: Accounts, store: Store, environment: Environment): Promise<string | undefined> {
  if (environment.billingToken !== undefined) {
    const secret = environment.billingToken;
    await nameVariable('WEIR_BILLING_TOKEN', () => accounts.ensureBillingTokenWithSecret({ name: firstName, secret }));
    return undefined;
  }
  if ((await store.listBillingTokens()).length > 0) return undefined;
  return await unlessMade(async () => (await accounts.createBillingToken({ name: firstName })).secret);
}

/** Several processes may start on a new database at once. The first one creates the secret and shows it. */
async function unlessMade(make: () => Promise<string>): Promise<string | undefined> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof AccountsError && error.code === 'duplicate_name') return undefined;
    throw error;
  }
}

/** Names the operator's variable in the error about a secret that cannot be used. */
async function nameVariable(name: string, ensure: () => Promise<unknown>): Promise<void> {
  try {
    await ensure();
  } catch (cause) {
    throw cause instanceof AccountsError ? new StartError(`${name}: ${cause.message}`, { cause }) : cause;
  }
}
