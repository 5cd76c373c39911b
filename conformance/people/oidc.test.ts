import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';

import { createOidcProvider } from '../../src/accounts/people/oidc/oidc-provider.ts';
import { createOidcSignIns } from '../../src/accounts/people/oidc/oidc-sign-ins.ts';
import type { OidcSettings } from '../../src/accounts/people/oidc/oidc-settings.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { correctBehaviour, type LoopbackProvider, startLoopbackProvider } from './oidc-provider-on-loopback.ts';
import { author, hourMs, usePeople } from './people-parts.ts';

const parts = usePeople();
const signal = AbortSignal.timeout(60_000);
const redirectUrl = 'https://console.example/oidc/callback';
let provider: LoopbackProvider;

before(async () => {
  provider = await startLoopbackProvider();
});
beforeEach(() => correctBehaviour(provider));
after(() => provider.close());

/** Sign-ins of a new process. The provider's tokens have times of the real clock. */
function assemble({ users, teams, timeoutMs = 20_000, ...changes }: Partial<OidcSettings> & { readonly timeoutMs?: number } = {}) {
  let aheadMs = 0;
  const clock = { nowMs: () => systemClock.nowMs() + aheadMs, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const { issuer, clientId, clientSecret } = provider;
  const settings: OidcSettings = {
    issuer,
    clientId,
    clientSecret,
    scopes: ['profile', 'email'],
    roles: { claim: 'groups', map: { admins: 'operator', teams: 'owner', readers: 'viewer' } },
    ...(users === undefined ? {} : { users }),
    ...(teams === undefined ? {} : { teams }),
    ...changes,
  };
  const signIns = createOidcSignIns({
    ...parts(),
    settings,
    clock,
    provider: createOidcProvider({ settings, clock, timeoutMs, send: fetch }),
  });
  return {
    signIns,
    pass: (ms: number) => {
      aheadMs += ms;
    },
    signIn: async () => {
      const { url, kept } = await signIns.begin({ redirectUrl }, signal);
      return await signIns.finish({ search: provider.agree(url), kept, redirectUrl }, { address: '10.0.0.3' }, signal);
    },
  };
}

const rejected = (code: string) => ({ name: 'OidcError', code });

test('a person is made at its first sign-in, and is found by issuer and subject afterwards', async () => {
  const { signIn, signIns } = assemble();
  const { url } = await signIns.begin({ redirectUrl }, signal);
  const asked = new URL(url).searchParams;
  assert.deepEqual(
    [asked.get('scope'), asked.get('redirect_uri'), asked.get('code_challenge_method')],
    ['openid profile email', 'https://console.example/oidc/callback', 'S256'],
  );
  const first = await signIn();
  assert.ok(first !== 'refused');
  const { person, session } = first;
  assert.deepEqual([person.name, person.role, person.email], ['ann', 'operator', 'ann@example.com']);
  assert.deepEqual(person.identity, { issuer: provider.issuer, subject: 'ann-1' });
  assert.deepEqual([session.way, session.expiresAtMs - session.createdAtMs], ['oidc', 12 * hourMs]);
  provider.behaviour.claims = { ...provider.behaviour.claims, preferred_username: 'renamed', email: 'new@example.com' };
  const again = await signIn();
  assert.ok(again !== 'refused');
  assert.deepEqual([again.person.id, again.person.name, again.person.email], [person.id, 'ann', 'new@example.com']);
  const rows = await parts().store.listAudit({ subject: `person:${person.id}`, limit: 9 });
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['sessions.create', 'people.update', 'sessions.create', 'people.create'],
  );
});

test('the same name at another subject is another person, and an e-mail address finds nobody', async () => {
  await parts().people.create({ name: 'zoe', role: 'operator', email: 'zoe@example.com' }, author);
  provider.behaviour.claims = { sub: 'z', preferred_username: '../Zoe', email: 'zoe@example.com', groups: 'readers' };
  const opened = await assemble().signIn();
  assert.ok(opened !== 'refused');
  assert.deepEqual([opened.person.name, opened.person.role], ['Zoe-2', 'viewer']);
});

test('without a mapped role nobody gets in, and a role that is taken away ends the sessions', async () => {
  const { people, principals, store } = parts();
  for (const groups of [undefined, [], ['others'], 'constructor', { admins: true }, [['admins']], ['Admins']]) {
    provider.behaviour.claims = { sub: 'stranger', groups };
    assert.equal(await assemble().signIn(), 'refused', JSON.stringify(groups));
  }
  assert.equal(await people.find({ identity: { issuer: provider.issuer, subject: 'stranger' } }), undefined);
  provider.behaviour.claims = { sub: 'leaver', groups: ['readers'] };
  const opened = await assemble().signIn();
  assert.ok(opened !== 'refused');
  assert.ok(await principals.ofSession(opened.token, {}, signal));
  provider.behaviour.claims = { sub: 'leaver', groups: [] };
  assert.equal(await assemble().signIn(), 'refused');
  assert.equal(await principals.ofSession(opened.token, {}, signal), undefined);
  const [row] = await store.listAudit({ limit: 1 });
  assert.deepEqual([row?.action, row?.note, row?.address], ['sessions.refuse', 'no role for its claims', '10.0.0.3']);
  provider.behaviour.claims = { sub: 'leaver', groups: ['readers'] };
  await people.change({ id: opened.person.id }, { disabled: true }, author);
  assert.equal(await assemble().signIn(), 'refused');
});

test('a new role and new teams at the provider are in force with the next sign-in', async () => {
  for (const name of ['alpha', 'beta'])
    await parts().store.ensureUser({ id: `user-${name}`, name, createdAtMs: 1 }, { ...author, atMs: 1 });
  const claimed = { claim: 'realm.teams', map: { 'team-a': 'alpha', 'team-b': 'beta', 'team-c': 'not a user' } };
  const { signIn } = assemble({ users: claimed });
  provider.behaviour.claims = { sub: 'mover', groups: ['teams'], realm: { teams: ['team-a', 'team-c', 'team-x'] } };
  const first = await signIn();
  assert.ok(first !== 'refused');
  assert.deepEqual([first.person.role, first.person.users], ['owner', ['alpha']]);
  provider.behaviour.claims = { sub: 'mover', groups: ['readers', 'teams'], realm: { teams: ['team-b'] } };
  const second = await signIn();
  assert.ok(second !== 'refused');
  assert.deepEqual([second.person.role, second.person.users], ['owner', ['beta']], 'the stronger of two roles');
  provider.behaviour.claims = { sub: 'mover', groups: ['readers'], realm: {} };
  const third = await signIn();
  assert.ok(third !== 'refused');
  assert.deepEqual([third.person.role, third.person.users], ['viewer', []]);
});

test('an owner whose claims name a team owns the users of the team', async () => {
  const { store } = parts();
  const change = { ...author, atMs: 1 };
  for (const name of ['gamma', 'delta']) await store.ensureUser({ id: `user-${name}`, name, createdAtMs: 1 }, change);
  await store.insertTeam({ id: 'team-blue', name: 'blue', createdAtMs: 1, limits: {} }, change);
  await store.setUserTeam('gamma', 'blue', change);
  provider.behaviour.claims = { sub: 'lead', groups: ['teams'], department: 'Blue Dept' };
  const opened = await assemble({ teams: { claim: 'department', map: { 'Blue Dept': 'blue' } } }).signIn();
  assert.ok(opened !== 'refused');
  assert.deepEqual([opened.person.role, opened.person.users], ['owner', ['gamma']]);
});

test('groups that only the answer about the person has are used', async () => {
  provider.behaviour.claims = { sub: 'info' };
  provider.behaviour.userInfo = { sub: 'info', groups: ['readers'], name: 'Ina Fo' };
  const opened = await assemble().signIn();
  assert.ok(opened !== 'refused');
  assert.deepEqual([opened.person.role, opened.person.name], ['viewer', 'Ina Fo']);
  provider.behaviour.userInfo = { sub: 'somebody else', groups: ['admins'] };
  await assert.rejects(assemble().signIn(), rejected('invalid'));
});

test('ID tokens with a wrong nonce, issuer, audience or time, or without a signature of the provider, are refused', async () => {
  const { signIn } = assemble();
  const nowSeconds = Math.floor(systemClock.nowMs() / 1000);
  const forgeries: Record<string, object> = {
    nonce: { nonce: 'another' },
    'no nonce': { nonce: undefined },
    issuer: { iss: 'https://evil.example' },
    audience: { aud: 'another client' },
    'two audiences without authorized party': { aud: ['another client', 'weir'], azp: 'another client' },
    expired: { exp: nowSeconds - 60, iat: nowSeconds - 600 },
    'issued in the future': { iat: nowSeconds + 600, exp: nowSeconds + 1200 },
    'not yet valid': { nbf: nowSeconds + 600 },
    'no subject': { sub: undefined },
  };
  for (const [name, forged] of Object.entries(forgeries)) {
    provider.behaviour.forge = (claims) => JSON.parse(JSON.stringify({ ...claims, ...forged }));
    await assert.rejects(signIn(), { name: 'OidcError' }, name);
  }
  correctBehaviour(provider);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const tampered: Record<string, (token: string) => string> = {
    'algorithm none': (token) => `${part({ alg: 'none' })}.${token.split('.')[1] ?? ''}.`,
    'a changed claim': (token) => {
      const [head = '', body = '', signature = ''] = token.split('.');
      return `${head}.${part({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), groups: ['admins'] })}.${signature}`;
    },
    'no signature': (token) => token.slice(0, token.lastIndexOf('.') + 1),
    'no token': () => '',
  };
  provider.behaviour.claims = { sub: 'forger', groups: ['readers'] };
  for (const [name, change] of Object.entries(tampered)) {
    provider.behaviour.token = change;
    await assert.rejects(signIn(), { name: 'OidcError' }, name);
  }
  assert.equal(await parts().people.find({ identity: { issuer: provider.issuer, subject: 'forger' } }), undefined);
});

test('a way back with another state or issuer, a repeated code, or a refusal opens nothing', async () => {
  const { signIns } = assemble();
  const finish = async (change: (parameters: URLSearchParams) => void): Promise<unknown> => {
    provider.behaviour.wayBack = change;
    const { url, kept } = await signIns.begin({ redirectUrl }, signal);
    return await signIns.finish({ search: provider.agree(url), kept, redirectUrl }, {}, signal);
  };
  await assert.rejects(
    finish((back) => back.set('state', 'x')),
    rejected('invalid'),
  );
  await assert.rejects(
    finish((back) => back.delete('state')),
    rejected('invalid'),
  );
  await assert.rejects(
    finish((back) => back.set('iss', 'https://evil.example')),
    rejected('invalid'),
  );
  await assert.rejects(
    finish((back) => back.delete('iss')),
    rejected('invalid'),
  );
  await assert.rejects(
    finish((back) => {
      back.delete('code');
      back.set('error', 'access_denied');
    }),
    rejected('denied'),
  );
  correctBehaviour(provider);
  const { url, kept } = await signIns.begin({ redirectUrl }, signal);
  const search = provider.agree(url);
  assert.ok((await signIns.finish({ search, kept, redirectUrl }, {}, signal)) !== 'refused');
  await assert.rejects(signIns.finish({ search, kept, redirectUrl }, {}, signal), { name: 'OidcError' });
  const other = await signIns.begin({ redirectUrl }, signal);
  await assert.rejects(signIns.finish({ search: provider.agree(url), kept: other.kept, redirectUrl }, {}, signal), rejected('invalid'));
});

test('a sign-in that took ten minutes, or came without its cookie, is refused', async () => {
  const { signIns, pass } = assemble();
  const { url, kept } = await signIns.begin({ redirectUrl }, signal);
  assert.match(kept, /^[A-Za-z0-9_-]+$/);
  const search = provider.agree(url);
  for (const garbage of ['', 'x', Buffer.from('{"state":1}').toString('base64url'), 'a'.repeat(5000)])
    await assert.rejects(signIns.finish({ search, kept: garbage, redirectUrl }, {}, signal), rejected('expired'));
  pass(10 * 60_000);
  await assert.rejects(signIns.finish({ search, kept, redirectUrl }, {}, signal), rejected('expired'));
});

test('keys that the provider has rotated a moment ago are used at once, and the old ones are not', async () => {
  const { signIn } = assemble();
  assert.notEqual(await signIn(), 'refused');
  let old = '';
  provider.behaviour.token = (token) => (old = token);
  await signIn();
  await provider.rotateKeys();
  correctBehaviour(provider);
  assert.notEqual(await signIn(), 'refused');
  provider.behaviour.token = () => old;
  await assert.rejects(signIn(), rejected('invalid'));
});

test('a provider that is silent, fails, or answers without end is unavailable within the limit', async () => {
  const discovery = '/.well-known/openid-configuration';
  const json = { 'content-type': 'application/json' };
  for (const path of [discovery, '/token', '/keys']) {
    for (const [name, answer] of Object.entries({
      silent: () => {},
      'silent after its head': (reply: ServerResponse) => reply.writeHead(200, json).write('{'),
      error: (reply: ServerResponse) => reply.writeHead(500).end('no'),
      redirect: (reply: ServerResponse) => reply.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      'no JSON': (reply: ServerResponse) => reply.writeHead(200, json).end('<html>'),
      endless: (reply: ServerResponse) => reply.writeHead(200, json).end(`{"a":"${'x'.repeat(2_000_000)}"}`),
    })) {
      provider.behaviour.answer = { [path]: answer };
      await assert.rejects(assemble({ timeoutMs: 200 }).signIn(), { name: 'OidcError' }, `${path} ${name}`);
    }
  }
  provider.behaviour.answer = { [discovery]: () => {} };
  const stopped = new AbortController();
  const begun = assemble().signIns.begin({ redirectUrl }, stopped.signal);
  stopped.abort(new Error('the client has gone'));
  await assert.rejects(begun, /the client has gone/);
});

test('a confirmation asks for a new sign-in at the provider, of the same person', async () => {
  const { signIn, signIns } = assemble();
  const opened = await signIn();
  assert.ok(opened !== 'refused');
  const confirm = async (sessionId = opened.session.id) => {
    const { url, kept } = await signIns.begin({ redirectUrl, confirms: sessionId }, signal);
    assert.deepEqual([new URL(url).searchParams.get('prompt'), new URL(url).searchParams.get('max_age')], ['login', '300']);
    return await signIns.finish({ search: provider.agree(url), kept, redirectUrl }, {}, signal);
  };
  provider.behaviour.claims = { ...provider.behaviour.claims, auth_time: Math.floor(systemClock.nowMs() / 1000) - 3600 };
  await assert.rejects(confirm(), rejected('invalid'));
  correctBehaviour(provider);
  const confirmed = await confirm();
  assert.ok(confirmed !== 'refused');
  assert.equal(confirmed.session.id, opened.session.id, 'the same session');
  assert.ok(await parts().principals.ofSession(confirmed.token, {}, signal));
  assert.equal(await parts().principals.ofSession(opened.token, {}, signal), undefined, 'its old token has ended');
  assert.equal(await confirm('ses_of_nobody'), 'refused');
  provider.behaviour.claims = { sub: 'somebody else', groups: ['admins'] };
  assert.equal(await confirm(), 'refused');
});

test('the last operator whom the provider demotes keeps its role and loses its sessions', async () => {
  const { people, principals } = parts();
  provider.behaviour.claims = { sub: 'last', preferred_username: 'last', groups: ['admins'] };
  const { signIn } = assemble();
  const opened = await signIn();
  assert.ok(opened !== 'refused');
  for (const person of await people.list())
    if (person.role === 'operator' && person.id !== opened.person.id) await people.change({ id: person.id }, { role: 'viewer' }, author);
  provider.behaviour.claims = { sub: 'last', groups: ['readers'] };
  assert.equal(await signIn(), 'refused');
  assert.equal((await people.find({ id: opened.person.id }))?.role, 'operator');
  assert.equal(await principals.ofSession(opened.token, {}, signal), undefined);
});
