import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFakeAccountsStore } from '../../accounts/testing/fake-accounts-store.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { readEnvironment } from '../environment.ts';
import { ensureConfiguredCredentials, makeFirstCredentials } from './first-credentials.ts';

const start = () => {
  const fake = createFakeAccountsStore();
  const store = fake as unknown as Store;
  const ensure = async (variables: Readonly<Record<string, string>> = {}) => {
    const options = { store, environment: readEnvironment(variables), clock: systemClock };
    await ensureConfiguredCredentials(options);
    return await makeFirstCredentials(options);
  };
  const list = async () => ({ keys: await store.listApiKeys(), tokens: await store.listBillingTokens() });
  return { ensure, list };
};

test('an empty database gets a key and a token, and they are returned this once', async () => {
  const { ensure, list } = start();
  const first = await ensure();
  assert.match(first.newApiKey ?? '', /^sk-weir/);
  assert.ok((first.newBillingToken?.length ?? 0) > 16);
  assert.deepEqual(await ensure(), { newApiKey: undefined, newBillingToken: undefined });
  const { keys, tokens } = await list();
  assert.deepEqual([keys.length, tokens.length], [1, 1]);
  assert.deepEqual([keys[0]?.userName, keys[0]?.name], ['admin', 'default']);
});

test('configured secrets are ensured at every start, and never returned', async () => {
  const { ensure, list } = start();
  const variables = { WEIR_API_KEY: 'sk-from-outside-1', WEIR_BILLING_TOKEN: 'bt-from-outside-1' };
  for (let starts = 0; starts < 3; starts++)
    assert.deepEqual(await ensure(variables), { newApiKey: undefined, newBillingToken: undefined });
  const { keys, tokens } = await list();
  assert.deepEqual([keys.length, tokens.length], [1, 1]);
});

test('one secret is configured and the other generated', async () => {
  const { ensure } = start();
  const made = await ensure({ WEIR_API_KEY: 'sk-from-outside-1' });
  assert.equal(made.newApiKey, undefined);
  assert.ok(made.newBillingToken);
});

for (const variable of ['WEIR_API_KEY', 'WEIR_BILLING_TOKEN'])
  test(`a secret that is too short is refused with the name ${variable}, without its value`, async () => {
    await assert.rejects(
      start().ensure({ [variable]: 'sh0rt' }),
      (error: Error) => error.name === 'StartError' && error.message.startsWith(`${variable}: `) && !error.message.includes('sh0rt'),
    );
  });
