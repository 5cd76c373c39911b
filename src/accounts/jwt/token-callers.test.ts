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
import { isRefused } from './token-refusal.ts';
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
  const ask = (token: string) => callers.resolve(token, AbortSignal.timeout(5000));
  /** The caller of a token; undefined if it is refused. */
  const resolve = async (token: string) => {
    const found = await ask(token);
    return isRefused(found) ? undefined : found;
  };
  return {
    store,
    accounts,
    directory,
    issuer,
    callers,
    settings,
    fetched,
    resolve,
    /** Why a token is refused. */
    reason: async (token: string) => {
      const found = await ask(token);
      return isRefused(found) ? found.refused : undefined;
    },
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

test('hostile tokens are refused, each with what is wrong and what would be right', async (context) => {
  const { issuer, name, reason, nowSeconds, accounts } = await setUp(context);
  const other = await createFakeIssuer(url, () => nowSeconds() * 1000);
  const [header = '', payload = '', signature = ''] = (await issuer.sign()).split('.');
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
  const publicKey = JSON.stringify(issuer.jwks().keys[0]);
  const symmetric = `${encode({ alg: 'HS256', kid })}.${payload}`;
  const reasons = {
    alg: /^its algorithm \(alg\) must be RS256$/,
    sig: /^no public key of its issuer fits its signature$/,
    read: /^it cannot be read$/,
    iss: /^its issuer \(iss\) is not configured here$/,
    aud: /^its audience \(aud\) must be weir$/,
    nbf: /^it is not valid yet \(nbf\)$/,
    exp: /^its claim exp is missing or wrong$/,
    expired: /^it expired at 20\d\d-/,
    name: /^its claims make no name of a user \(\{sub\}\)$/,
    long: /^it has more than 16384 characters$/,
  };
  const hostile: Readonly<Record<string, readonly [string, RegExp]>> = {
    'alg none': [`${encode({ alg: 'none', kid })}.${payload}.`, reasons.alg],
    'HS256 with the public key': [`${symmetric}.${createHmac('sha256', publicKey).update(symmetric).digest('base64url')}`, reasons.alg],
    'an algorithm that is not allowed': [`${encode({ alg: 'RS512', kid })}.${payload}.${signature}`, reasons.alg],
    'changed claims': [`${header}.${encode({ ...claims, sub: 'root' })}.${signature}`, reasons.sig],
    'no signature': [`${header}.${payload}.`, reasons.sig],
    'another key with the same name': [await other.sign({}, { kid }), reasons.sig],
    'a key in the header': [await other.sign({}, { kid, jwk: other.jwks().keys[0] }), reasons.sig],
    'an address of keys in the header': [await other.sign({}, { kid, jku: 'https://evil.example/keys' }), reasons.sig],
    'an unknown critical header': [`${encode({ alg: 'RS256', kid, crit: ['x'], x: 1 })}.${payload}.${signature}`, reasons.read],
    'another issuer': [await issuer.sign({ iss: 'https://other.example' }), reasons.iss],
    'an issuer with a slash more': [await issuer.sign({ iss: `${url}/` }), reasons.iss],
    'no issuer': [await issuer.sign({ iss: undefined }), reasons.read],
    'another audience': [await issuer.sign({ aud: 'other' }), reasons.aud],
    'no audience': [await issuer.sign({ aud: undefined }), reasons.aud],
    'not yet valid': [await issuer.sign({ nbf: nowSeconds() + 61 }), reasons.nbf],
    'expired, of an unknown subject': [await issuer.sign({ exp: nowSeconds() - 61 }), reasons.expired],
    'no expiry': [await issuer.sign({ exp: undefined }), reasons.exp],
    'no subject': [await issuer.sign({ sub: undefined }), reasons.name],
    'too long': [await issuer.sign({ padding: 'x'.repeat(16_384) }), reasons.long],
    'not base64': ['eyJ!.!.!', reasons.read],
    'two parts': [`${header}.${payload}`, reasons.read],
    'five parts': [`${header}.${payload}.${signature}.x.y`, reasons.read],
    'deep JSON': [`${Buffer.from('[['.repeat(3000)).toString('base64url')}.${payload}.${signature}`, reasons.read],
  };
  for (const [what, [token, expected]] of Object.entries(hostile)) assert.match((await reason(token)) ?? '', expected, what);
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
  const { issuer, callers, resolve, reason, accounts, directory } = await setUp(context, {
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
  assert.equal(await reason(token), 'its key alice/ci is disabled');
  await accounts.enableApiKey(caller.id);
  await directory.refresh();
  assert.equal(callers.find(token)?.id, caller.id);
  await assert.rejects(accounts.rotateApiKey(caller.id, 0), { code: 'no_secret' });
});

test('a new signing key is fetched at once, after one that is nowhere not for 30 s, and a withdrawn one ends the tokens in memory', async (context) => {
  const { issuer, callers, name, fetched, advance } = await setUp(context);
  const old = await issuer.sign();
  assert.equal(await name(old), 'alice/ci');
  const fetches = () => fetched.filter((address) => address.endsWith('/keys')).length;
  advance(2000);
  await issuer.rotate();
  assert.equal(await name(await issuer.sign()), 'alice/ci', 'two seconds after the first fetch');
  assert.equal(fetches(), 2);
  assert.equal(await name(old), 'alice/ci');
  advance(2000);
  for (let index = 0; index < 50; index += 1) await name(await issuer.sign({ jti: String(index) }, { kid: `made-up-${index}` }));
  assert.equal(fetches(), 3, 'the first one is looked for, and then none for 30 s');
  advance(29_999);
  await name(await issuer.sign({ jti: 'x' }, { kid: 'early' }));
  assert.equal(fetches(), 3);
  advance(1);
  for (let index = 0; index < 50; index += 1) await name(await issuer.sign({ jti: String(index) }, { kid: `unknown-${index}` }));
  assert.equal(fetches(), 4);
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
  const { issuer, callers, name, reason, settings, configure } = await setUp(context);
  const token = await issuer.sign({ groups: ['dev'] });
  assert.equal(await name(token), 'alice/ci');
  configure([{ ...settings, claims: { groups: ['ops'] } }]);
  assert.deepEqual([callers.find(token), await name(token)], [undefined, undefined]);
  assert.equal(await reason(token), 'its claim groups is missing, or has a value that is not accepted');
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
