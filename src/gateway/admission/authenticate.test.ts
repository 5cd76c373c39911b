import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';

import type { ApiKey } from '../../accounts/api-key.ts';
import { authenticate, type CallerDirectory } from './authenticate.ts';

const key: ApiKey = {
  id: 'key_1',
  userId: 'user_1',
  userName: 'alice',
  name: 'ci',
  hint: 'cret',
  createdAtMs: 0,
  strictTranslation: false,
};
const callers: CallerDirectory = {
  find: (secret) => (secret === 'known' ? key : undefined),
  resolve: (secret) => Promise.resolve(secret === 'fresh' ? key : secret === 'unsure' ? 'unavailable' : undefined),
};
const ask = async (headers: readonly (readonly [string, string])[], queryKeys: readonly string[] = []) =>
  authenticate({ rawHeaders: headers.flat() } as unknown as IncomingMessage, queryKeys, callers);

test('every carrier works', async () => {
  for (const header of [
    ['Authorization', 'Bearer known'],
    ['authorization', 'bearer   known  '],
    ['AUTHORIZATION', 'BEARER\tknown'],
    ['Authorization', 'known'],
    ['X-Api-Key', 'known'],
    ['x-goog-api-key', ' known '],
  ] as const)
    assert.equal(await ask([header]), key, header.join(': '));
  assert.equal(await ask([], ['known']), key);
});

test('the same key twice is one key', async () => {
  assert.equal(
    await ask(
      [
        ['authorization', 'Bearer known'],
        ['x-api-key', 'known'],
        ['x-goog-api-key', 'known'],
      ],
      ['known', 'known'],
    ),
    key,
  );
});

test('two different keys are refused, also if one of them is valid', async () => {
  const refused = { code: 'conflicting_credentials', status: 401 };
  await assert.rejects(
    ask([
      ['authorization', 'Bearer known'],
      ['x-api-key', 'other'],
    ]),
    refused,
  );
  await assert.rejects(ask([['x-api-key', 'known']], ['other']), refused);
  await assert.rejects(ask([], ['known', 'other']), refused);
});

test('a second Authorization, which Node hides from `headers`, is seen', async () => {
  await assert.rejects(
    ask([
      ['authorization', 'Bearer known'],
      ['Authorization', 'Bearer other'],
    ]),
    { code: 'conflicting_credentials' },
  );
});

test('another scheme is not a key', async () => {
  for (const value of ['Basic a25vd24=', 'Digest known', 'Bearerknown'])
    await assert.rejects(ask([['authorization', value]]), { code: 'invalid_api_key', status: 401 });
});

test('an empty carrier does not count', async () => {
  const missing = { code: 'missing_api_key', status: 401, message: /Authorization: Bearer, x-api-key, x-goog-api-key, api-key or \?key=/ };
  await assert.rejects(ask([]), missing);
  await assert.rejects(ask([['x-api-key', ' ']], ['']), missing);
  for (const value of ['', 'Bearer', 'Bearer ', 'bearer  ']) {
    await assert.rejects(ask([['authorization', value]]), missing, value);
    assert.equal(
      await ask([
        ['authorization', value],
        ['x-api-key', 'known'],
      ]),
      key,
    );
  }
});

test('other headers carry no credential', async () => {
  await assert.rejects(
    ask([
      ['cookie', 'key=known'],
      ['proxy-authorization', 'Bearer known'],
      ['token', 'known'],
    ]),
    { code: 'missing_api_key' },
  );
});

test('a key that is not in memory is looked up', async () => assert.equal(await ask([['x-api-key', 'fresh']]), key));

test('accounts-down: unavailable accounts are never reported as a wrong key', async () => {
  await assert.rejects(ask([['x-api-key', 'unsure']]), { code: 'accounts_unavailable', status: 503, retryAfterSeconds: 1 });
});

test('a refusal does not repeat the key', async () => {
  await assert.rejects(ask([['x-api-key', 'sk-very-secret']]), (error: Error & { internal?: string }) => {
    assert.doesNotMatch(`${error.message}${error.internal}`, /very-secret/);
    return true;
  });
});
