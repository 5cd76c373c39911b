import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { ApiKey } from '../../accounts/api-key.ts';
import { checkCaller, mayCall } from './authenticate.ts';

const caller = (limits?: AccessLimits, userLimits?: AccessLimits): ApiKey => ({
  id: 'key_1',
  userId: 'user_1',
  userName: 'alice',
  name: 'ci',
  hint: 'cret',
  createdAtMs: 0,
  strictTranslation: false,
  ...(limits === undefined ? {} : { limits }),
  ...(userLimits === undefined ? {} : { userLimits }),
});
const request = (remoteAddress: string | undefined): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: {} }) as unknown as IncomingMessage;
const check = (key: ApiKey, from = '10.0.0.1', nowMs = 100): void => checkCaller(key, request(from), nowMs, undefined);

test('a key without limits passes on any connection', () => {
  checkCaller(caller(), request(undefined), 0, undefined);
  check(caller({ requestsPerMinute: 1 }, { concurrency: 1 }));
});

test('expiry, of the key or its owner, is a 401 from its first millisecond on', () => {
  for (const expiring of [
    caller({ expiresAtMs: 100 }),
    caller(undefined, { expiresAtMs: 100 }),
    caller({ expiresAtMs: 900 }, { expiresAtMs: 99 }),
  ]) {
    assert.throws(() => check(expiring), { code: 'expired_api_key', status: 401, message: /expired at 1970-01-01T00:00:00/ });
  }
  check(caller({ expiresAtMs: 101 }, { expiresAtMs: 101 }));
});

test('an address must be on the list of the key and on that of its owner', () => {
  const limited = caller({ addresses: ['10.0.0.0/8', '2001:db8::/32'] }, { addresses: ['10.0.0.1', '2001:db8::1'] });
  for (const from of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1']) check(limited, from);
  for (const from of ['10.0.0.2', '11.0.0.1', '2001:db8::2', '::1', ''])
    assert.throws(() => check(limited, from), { code: 'address_not_allowed', status: 403 }, from);
  assert.throws(() => checkCaller(limited, request(undefined), 0, undefined), { code: 'address_not_allowed' });
});

test('models match by whole names and beginnings, on both lists, with or without the prefix of generate-content', () => {
  const limited = caller({ models: ['gpt-5*', 'fast'] }, { models: ['gpt-5-mini', 'fast', 'other'] });
  for (const model of ['gpt-5-mini', 'fast', 'models/fast']) assert.equal(mayCall(limited, model), true, model);
  for (const model of ['gpt-5', 'gpt-5-nano', 'other', 'Fast', 'fast2', '']) assert.equal(mayCall(limited, model), false, model);
  assert.equal(mayCall(caller({}, { requestsPerMinute: 1 }), 'anything'), true);
});
