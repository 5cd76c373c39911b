import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { correctBehaviour, type LoopbackProvider, startLoopbackProvider } from '../people/oidc-provider-on-loopback.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { signInByLink } from './console-client.ts';

/** A browser that keeps all cookies, and follows no redirect by itself. */
function openBrowser(consoleUrl: string) {
  const jar = new Map<string, string>();
  const setCookies: string[] = [];
  return {
    jar,
    setCookies,
    get: async (path: string, { withoutSession = false }: { readonly withoutSession?: boolean } = {}) => {
      const sent = [...jar].filter(([name]) => !(withoutSession && name === 'weir_session'));
      const response = await fetch(new URL(path, consoleUrl), {
        redirect: 'manual',
        headers: { cookie: sent.map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      for (const text of response.headers.getSetCookie()) {
        setCookies.push(text);
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        if (value === '') jar.delete(name);
        else jar.set(name, value);
      }
      const text = await response.text();
      const body: Readonly<Record<string, unknown>> = text.startsWith('{') ? JSON.parse(text) : {};
      return { status: response.status, location: response.headers.get('location') ?? '', body };
    },
  };
}

describe('signing in at a provider of OpenID Connect', () => {
  let weir: ServedWeir;
  let provider: LoopbackProvider;
  before(async () => {
    provider = await startLoopbackProvider();
    const config = `console:
  passwords: false
  oidc:
    issuer: ${provider.issuer}
    clientId: ${provider.clientId}
    clientSecret: ${JSON.stringify(provider.clientSecret)}
    roles: { claim: groups, map: { admins: operator, readers: viewer } }
`;
    weir = await serveWeir({ command: 'console', config, environment: { WEIR_CONSOLE_PORT: '0' } });
  });
  beforeEach(() => correctBehaviour(provider));
  after(async () => {
    await weir[Symbol.asyncDispose]();
    await provider.close();
  });

  /** Goes to the provider and back. The way back is cross-site: browsers do not send the session's cookie with it. */
  async function signIn(browser = openBrowser(weir.consoleUrl), start = '/oidc/start') {
    const begun = await browser.get(start);
    assert.equal(begun.status, 303, JSON.stringify(begun.body));
    assert.equal(new URL(begun.location).origin, provider.issuer);
    const back = await browser.get(`/oidc/callback${provider.agree(begun.location)}`, { withoutSession: true });
    return { browser, back };
  }

  test('a person gets in with the role of its claims, and its cookie is for this console alone', async () => {
    const { browser, back } = await signIn();
    assert.deepEqual([back.status, back.location], [303, '/']);
    const [kept, cleared, session] = browser.setCookies;
    assert.match(kept ?? '', /^weir_oidc=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.match(cleared ?? '', /^weir_oidc=;/);
    assert.match(session ?? '', /^weir_session=\w{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/);
    const { body } = await browser.get('/api/v1/session');
    const { name, role } = body['person'] as { name: string; role: string };
    assert.deepEqual([name, role, body['actor']], ['ann', 'operator', 'person:ann']);
  });

  test('the ways to sign in name the provider, and passwords are off', async () => {
    const browser = openBrowser(weir.consoleUrl);
    const { body } = await browser.get('/api/v1/session/ways');
    assert.deepEqual(body, {
      link: true,
      password: false,
      api_key: false,
      billing_token: false,
      oidc: { issuer: provider.issuer, start: '/oidc/start' },
    });
    const operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    for (const [method, path, sent] of [
      ['POST', '/api/v1/session', { name: 'ann', password: 'a long enough passphrase' }],
      ['PUT', '/api/v1/session/password', { password: 'a long enough passphrase' }],
      ['POST', '/api/v1/session/confirm', { password: 'a long enough passphrase' }],
    ] as const)
      assert.equal((await operator.send(method, path, sent)).body['code'], 'conflict', path);
    assert.equal((await operator.send('POST', '/api/v1/people', { name: 'Gus', role: 'viewer' })).status, 201, 'nobody needs a password');
  });

  test('ID tokens with another nonce, issuer, audience or time, or without a signature, open nothing', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    for (const [name, forged] of Object.entries({
      nonce: { nonce: 'another' },
      issuer: { iss: 'https://evil.example' },
      audience: { aud: 'another client' },
      expired: { exp: nowSeconds - 60, iat: nowSeconds - 600 },
      future: { iat: nowSeconds + 600, exp: nowSeconds + 1200 },
    })) {
      provider.behaviour.forge = (claims) => ({ ...claims, ...forged });
      const { browser, back } = await signIn();
      assert.deepEqual([back.status, back.body['code'], browser.jar.size], [401, 'unauthenticated', 0], name);
    }
    correctBehaviour(provider);
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    provider.behaviour.token = (token) => `${none}.${token.split('.')[1] ?? ''}.`;
    assert.equal((await signIn()).back.status, 401, 'algorithm none');
    assert.match(weir.output(), /sign-in at the provider failed/);
    assert.ok(!weir.output().includes('eyJ'), 'no token is in the log');
  });

  test('rotated keys are used at once, and a provider that is down is named', async () => {
    await provider.rotateKeys();
    assert.equal((await signIn()).back.status, 303);
    provider.behaviour.answer = { '/token': (reply) => reply.writeHead(500).end() };
    const { back } = await signIn();
    assert.deepEqual([back.status, back.body['retryable']], [503, true]);
  });

  test('without a mapped role nobody gets in, and a role that is taken away ends the session', async () => {
    provider.behaviour.claims = { sub: 'stranger', groups: ['others'] };
    assert.equal((await signIn()).back.status, 401);
    provider.behaviour.claims = { sub: 'leaver', preferred_username: 'lea', groups: ['readers'] };
    const { browser } = await signIn();
    assert.equal((await browser.get('/api/v1/session')).status, 200);
    provider.behaviour.claims = { sub: 'leaver', groups: [] };
    assert.equal((await signIn()).back.status, 401);
    assert.equal((await browser.get('/api/v1/session')).status, 401);
  });

  test('a way back without its cookie, or twice, or with that of another browser, opens nothing', async () => {
    const begun = await openBrowser(weir.consoleUrl).get('/oidc/start');
    const search = provider.agree(begun.location);
    const victim = openBrowser(weir.consoleUrl);
    assert.equal((await victim.get(`/oidc/callback${search}`)).status, 401);
    await victim.get('/oidc/start');
    assert.equal((await victim.get(`/oidc/callback${search}`)).status, 401, 'an attacker signs nobody in as itself');
    assert.equal(victim.jar.size, 0);
  });

  test('a confirmation makes the sign-in recent, with a new token, for the person of the session alone', async () => {
    const { browser } = await signIn();
    const before = browser.jar.get('weir_session');
    const first = (await browser.get('/api/v1/session')).body['signed_in_at'];
    const { back } = await signIn(browser, '/oidc/start?confirm=true');
    assert.equal(back.status, 303);
    assert.notEqual(browser.jar.get('weir_session'), before);
    const { body } = await browser.get('/api/v1/session');
    assert.ok(String(body['signed_in_at']) > String(first));
    provider.behaviour.claims = { sub: 'other', preferred_username: 'otto', groups: ['admins'] };
    await signIn();
    assert.equal((await signIn(browser, '/oidc/start?confirm=true')).back.status, 401);
    assert.equal((await openBrowser(weir.consoleUrl).get('/oidc/start?confirm=true')).status, 401, 'without a session');
  });
});
