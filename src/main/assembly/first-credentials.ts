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

type Options = { readonly store: Store; readonly environment: Environment; readonly clock: Clock };

const accountsOf = ({ store, clock }: Options): Accounts =>
  createAccounts({ store, clock, random: randomBytes, author: configurationAuthor });

/** Ensures that the API key and the billing token of the environment exist. They are never printed. */
export async function ensureConfiguredCredentials(options: Options): Promise<void> {
  const { apiKey, billingToken } = options.environment;
  const accounts = accountsOf(options);
  await unlessStoreRefuses(options, async () => {
    if (apiKey !== undefined)
      await nameVariable('WEIR_API_KEY', () => accounts.ensureApiKeyWithSecret({ userName: firstUser, name: firstName, secret: apiKey }));
    if (billingToken !== undefined)
      await nameVariable('WEIR_BILLING_TOKEN', () => accounts.ensureBillingTokenWithSecret({ name: firstName, secret: billingToken }));
  });
}

/**
 * Generates an API key and a billing token in an empty database, and returns them to be shown. It is the last step of a
 * start: a start that fails would never show them.
 */
export async function makeFirstCredentials(options: Options): Promise<FirstCredentials> {
  const { store } = options;
  const accounts = accountsOf(options);
  const made = await unlessStoreRefuses(options, async () => ({
    newApiKey:
      (await store.listApiKeys({ limit: 1 })).length > 0
        ? undefined
        : await unlessMade(async () => (await accounts.createApiKey({ userName: firstUser, name: firstName })).secret),
    newBillingToken:
      (await store.listBillingTokens()).length > 0
        ? undefined
        : await unlessMade(async () => (await accounts.createBillingToken({ name: firstName })).secret),
  }));
  return made ?? { newApiKey: undefined, newBillingToken: undefined };
}

/** A monitor with a read-only role creates none. A gateway with remembered keys can wait for its database. */
async function unlessStoreRefuses<Value>({ environment }: Options, work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    const isGoodEnough =
      error instanceof StoreError && (error.kind === 'read-only' || (error.kind === 'unavailable' && remembersKeys(environment)));
    if (isGoodEnough) return undefined;
    throw error;
  }
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
