import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { testAuthor } from '../../audit/testing/test-change.ts';
import { silentLogger } from '../../platform/log.ts';
import { createAccounts } from '../create-accounts.ts';
import { createKeyDirectory } from '../key-directory.ts';
import { createFakeAccountsStore } from '../testing/fake-accounts-store.ts';
import { createFakeIssuer } from './testing/fake-issuer.ts';
import { createTokenCallers, looksLikeToken } from './token-callers.ts';
import type { TokenIssuer } from './token-issuer.ts';

const url = 'https://issuer.example';

async function setUp(context: TestContext, changes: Partial<TokenIssuer> = {}) {
  const store = createFakeAccountsStore();
  let nowMs = 1_800_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const directory = createKeyDirectory({ store, clock, logger: silentLogger, refreshMs: 3_600_000 });
  await directory.start();
  context.after(() => directory.close());
  const issuer = await createFakeIssuer(url, () => nowMs);
  const fetched: string[] = [];
  let isAway = false;
  const settings: TokenIssuer = {
    name: 'ci',
    issuer: url,
    audiences: ['weir'],
    jwksUrl: undefined,
    algorithms: ['RS256'],
    user: '{sub}',
    key: 'ci',
    claims: {},
    limits: {},
    keysMax: 3,
    ...changes,
  };
  let issuers: readonly TokenIssuer[] = [settings];
  const callers = createTokenCallers({
    issuers: () => issuers,
    fetchDocument: async (address) => {
      fetched.push(address);
      if (isAway) throw new Error('no connection');
      return address === `${url}/keys` ? issuer.jwks() : { issuer: url, jwks_uri: `${url}/keys` };
    },
    directory,
    store,
    clock,
    random: randomBytes,
    logger: silentLogger,
  });
  const accounts = createAccounts({ store, clock, random: randomBytes, author: testAuthor });
  const resolve = (token: string) => callers.resolve(token, AbortSignal.timeout(5000));
  return {
    store,
    accounts,
    directory,
    issuer,
    callers,
    settings,
    fetched,
    resolve,
    /** The user and key as which a token calls, or the refusal. */
    name: async (token: string) => {
      const caller = await resolve(token);
      return caller === undefined || caller === 'unavailable' ? caller : `${caller.userName}/${caller.name}`;
    },
    configure: (next: readonly TokenIssuer[]) => (issuers = next),
    setAway: (value: boolean) => (isAway = value),
    advance: (ms: number) => (nowMs += ms),
    nowSeconds: () => Math.floor(nowMs / 1000),
  };
}

test('a token creates its user and key once, is found in memory afterwards, and another token of the subject is the same key', async (context) => {
  const { store, issuer, callers, resolve, fetched, accounts } = await setUp(context);
  const token = await issuer.sign();
  assert.equal(callers.find(token), undefined);
  const first = await resolve(token);
  assert.ok(first !== undefined && first !== 'unavailable');
  assert.deepEqual([first.userName, first.name, first.issuer, first.hint], ['alice', 'ci', 'ci', 'jwt']);
  const before = { ...store.calls };
  assert.equal(callers.find(token)?.id, first.id);
  const again = await resolve(await issuer.sign({ jti: '2' }));
  assert.equal(again !== undefined && again !== 'unavailable' && again.id, first.id);
  assert.deepEqual(store.calls, before, 'nothing is asked of the store for a known key');
  assert.deepEqual(fetched, [`${url}/.well-known/openid-configuration`, `${url}/keys`]);
  assert.equal((await accounts.listApiKeys()).length, 1);
});

test('a hundred calls at once with a new token make one key with one verification', async (context) => {
  const { issuer, resolve, accounts, fetched } = await setUp(context);
  const token = await issuer.sign();
  const callers = await Promise.all(Array.from({ length: 100 }, () => resolve(token)));
  assert.equal(new Set(callers.map((caller) => (typeof caller === 'object' ? caller.id : caller))).size, 1);
  assert.equal((await accounts.listApiKeys()).length, 1);
  assert.equal(fetched.length, 2);
});

test('hostile tokens are refused like an unknown key', async (context) => {
  const { issuer, name, nowSeconds, accounts } = await setUp(context);
  const other = await createFakeIssuer(url, () => nowSeconds() * 1000);
  const [header = '', payload = '', signature = ''] = (await issuer.sign()).split('.');
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
  const publicKey = JSON.stringify(issuer.jwks().keys[0]);
  const symmetric = `${encode({ alg: 'HS256', kid })}.${payload}`;
  const hostile: Readonly<Record<string, string>> = {
    'alg none': `${encode({ alg: 'none', kid })}.${payload}.`,
    'HS256 with the public key': `${symmetric}.${createHmac('sha256', publicKey).update(symmetric).digest('base64url')}`,
    'an algorithm that is not allowed': `${encode({ alg: 'RS512', kid })}.${payload}.${signature}`,
    'changed claims': `${header}.${encode({ ...claims, sub: 'root' })}.${signature}`,
    'no signature': `${header}.${payload}.`,
    'another key with the same name': await other.sign({}, { kid }),
    'a key in the header': await other.sign({}, { kid, jwk: other.jwks().keys[0] }),
    'an address of keys in the header': await other.sign({}, { kid, jku: 'https://evil.example/keys' }),
    'an unknown critical header': `${encode({ alg: 'RS256', kid, crit: ['x'], x: 1 })}.${payload}.${signature}`,
    'another issuer': await issuer.sign({ iss: 'https://other.example' }),
    'an issuer with a slash more': await issuer.sign({ iss: `${url}/` }),
    'no issuer': await issuer.sign({ iss: undefined }),
    'another audience': await issuer.sign({ aud: 'other' }),
    'no audience': await issuer.sign({ aud: undefined }),
    'not yet valid': await issuer.sign({ nbf: nowSeconds() + 61 }),
    'expired, of an unknown subject': await issuer.sign({ exp: nowSeconds() - 61 }),
    'no expiry': await issuer.sign({ exp: undefined }),
    'no subject': await issuer.sign({ sub: undefined }),
    'too long': await issuer.sign({ padding: 'x'.repeat(16_384) }),
    'not base64': 'eyJ!.!.!',
    'two parts': `${header}.${payload}`,
    'five parts': `${header}.${payload}.${signature}.x.y`,
    'deep JSON': `${Buffer.from('[['.repeat(3000)).toString('base64url')}.${payload}.${signature}`,
  };
  for (const [what, token] of Object.entries(hostile)) assert.equal(await name(token), undefined, what);
  assert.deepEqual(await accounts.listApiKeys(), [], 'no refused token makes a key');
  assert.equal(await name(await issuer.sign({ nbf: nowSeconds() + 59, exp: nowSeconds() - 59 })), 'alice/ci', 'the leeway');
  assert.equal(await name(await issuer.sign({ aud: ['other', 'weir'] })), 'alice/ci');
});

test('a token that expires while it is in memory ends with its leeway, and then says when it expired', async (context) => {
  const { issuer, callers, resolve, advance, nowSeconds } = await setUp(context);
  const token = await issuer.sign({ exp: nowSeconds() + 10 });
  await resolve(token);
  advance(69_999);
  assert.notEqual(callers.find(token), undefined);
  const endsAtMs = (nowSeconds() + 1) * 1000;
  advance(1);
  assert.equal(callers.find(token), undefined);
  const expired = await resolve(token);
  assert.ok(expired !== undefined && expired !== 'unavailable');
  assert.equal(expired.limits?.expiresAtMs, endsAtMs);
});

test('a disabled key refuses its tokens, an enabled one takes them again, and own limits come before those of the issuer', async (context) => {
  const { issuer, callers, resolve, accounts, directory } = await setUp(context, {
    limits: { requestsPerMinute: 5, concurrency: 2, models: ['gpt-*'] },
  });
  const token = await issuer.sign();
  const caller = await resolve(token);
  assert.ok(caller !== undefined && caller !== 'unavailable');
  const { expiresAtMs: _end, ...limits } = caller.limits ?? {};
  assert.deepEqual(limits, { requestsPerMinute: 5, concurrency: 2, models: ['gpt-*'] });
  await accounts.changeKeyLimits(caller.id, { requestsPerMinute: 50 });
  await directory.refresh();
  assert.equal(callers.find(token)?.limits?.requestsPerMinute, 50);
  assert.equal(callers.find(token)?.limits?.concurrency, 2);
  await accounts.disableApiKey(caller.id);
  await directory.refresh();
  assert.deepEqual(
    [callers.find(token), await resolve(token), await resolve(await issuer.sign({ jti: 'new' }))],
    [undefined, undefined, undefined],
  );
  await accounts.enableApiKey(caller.id);
  await directory.refresh();
  assert.equal(callers.find(token)?.id, caller.id);
  await assert.rejects(accounts.rotateApiKey(caller.id, 0), { code: 'no_secret' });
});

test('a new signing key is fetched at once, an unknown one at most every 30 s, and a withdrawn one ends the tokens in memory', async (context) => {
  const { issuer, callers, name, fetched, advance } = await setUp(context);
  const old = await issuer.sign();
  assert.equal(await name(old), 'alice/ci');
  const fetches = () => fetched.filter((address) => address.endsWith('/keys')).length;
  for (let index = 0; index < 50; index += 1) await name(await issuer.sign({ jti: String(index) }, { kid: `made-up-${index}` }));
  assert.equal(fetches(), 1, 'not within 30 s of the first fetch');
  advance(30_000);
  for (let index = 0; index < 50; index += 1) await name(await issuer.sign({ jti: String(index) }, { kid: `unknown-${index}` }));
  assert.equal(fetches(), 2);
  advance(30_000);
  await issuer.rotate();
  assert.equal(await name(await issuer.sign()), 'alice/ci');
  assert.equal(fetches(), 3);
  assert.equal(await name(old), 'alice/ci');
  await issuer.rotate({ forget: true });
  advance(30_000);
  assert.equal(await name(await issuer.sign({ jti: 'newest' })), 'alice/ci');
  assert.equal(callers.find(old), undefined);
  assert.equal(await name(old), undefined, 'its key is no longer published');
});

test('keys in memory are used for a day while the issuer is away; without keys a token is unavailable and not wrong', async (context) => {
  const { issuer, name, setAway, advance, fetched } = await setUp(context);
  setAway(true);
  assert.equal(await name(await issuer.sign()), 'unavailable');
  assert.equal(await name(await issuer.sign({ jti: '2' })), 'unavailable');
  assert.equal(fetched.length, 1, 'the issuer is asked at most every two seconds');
  advance(2000);
  setAway(false);
  assert.equal(await name(await issuer.sign()), 'alice/ci');
  setAway(true);
  advance(23 * 3_600_000);
  assert.equal(await name(await issuer.sign()), 'alice/ci');
  advance(3_600_000);
  assert.equal(await name(await issuer.sign()), 'unavailable');
});

test('keys of ten minutes are fetched again in the background of calls that find their token', async (context) => {
  const { issuer, callers, name, fetched, advance, nowSeconds } = await setUp(context);
  const token = await issuer.sign({ exp: nowSeconds() + 7200 });
  await name(token);
  const fetches = fetched.length;
  advance(599_999);
  callers.find(token);
  assert.equal(fetched.length, fetches);
  advance(1);
  assert.notEqual(callers.find(token), undefined, 'the call does not wait');
  callers.find(token);
  assert.equal(fetched.length, fetches + 1);
});

test('a token never becomes a key that has a secret, and the number of keys of an issuer is bounded', async (context) => {
  const { issuer, name, accounts, directory } = await setUp(context);
  await accounts.createApiKey({ userName: 'bob', name: 'ci' });
  await directory.refresh();
  assert.equal(await name(await issuer.sign({ sub: 'bob' })), undefined);
  assert.deepEqual(
    [await name(await issuer.sign({ sub: 'a' })), await name(await issuer.sign({ sub: 'b' })), await name(await issuer.sign({ sub: 'c' }))],
    ['a/ci', 'b/ci', 'c/ci'],
  );
  assert.equal(await name(await issuer.sign({ sub: 'd' })), undefined);
  assert.equal(await name(await issuer.sign({ sub: 'a', jti: '2' })), 'a/ci');
});

test('while the store is down, tokens of known keys are served and those of new keys are unavailable', async (context) => {
  const { issuer, name, store } = await setUp(context);
  await name(await issuer.sign());
  store.mode = 'down';
  assert.equal(await name(await issuer.sign({ jti: '2' })), 'alice/ci');
  assert.equal(await name(await issuer.sign({ sub: 'carol' })), 'unavailable');
});

test('a change of the configuration is in force for tokens in memory', async (context) => {
  const { issuer, callers, name, settings, configure } = await setUp(context);
  const token = await issuer.sign({ groups: ['dev'] });
  assert.equal(await name(token), 'alice/ci');
  configure([{ ...settings, claims: { groups: ['ops'] } }]);
  assert.deepEqual([callers.find(token), await name(token)], [undefined, undefined]);
  configure([{ ...settings, claims: { groups: ['dev', 'ops'] } }]);
  assert.equal(await name(token), 'alice/ci');
  configure([]);
  assert.deepEqual([callers.find(token), await name(token)], [undefined, undefined]);
});

test('only text with the begin of a token is taken for one', () => {
  assert.equal(looksLikeToken('eyJhbGciOiJSUzI1NiJ9.e30.x'), true);
  assert.equal(looksLikeToken('sk-weir-5fQ2mC8xLd_x'), false);
});

test('a user without a team joins the one of the claim, which is created; a team that an operator chose stays', async (context) => {
  const { issuer, name, accounts } = await setUp(context, { team: '{department}' });
  assert.equal(await name(await issuer.sign()), undefined, 'the claim is missing');
  assert.equal(await name(await issuer.sign({ department: 'research' })), 'alice/ci');
  await accounts.createApiKey({ userName: 'bob', name: 'laptop' });
  await accounts.createTeam({ name: 'sales' });
  await accounts.setUserTeam('bob', 'sales');
  assert.equal(await name(await issuer.sign({ sub: 'bob', department: 'research' })), 'bob/ci');
  const teams = Object.fromEntries((await accounts.listUsers()).map((user) => [user.name, user.team]));
  assert.deepEqual(teams, { alice: 'research', bob: 'sales' });
});
