import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { permissionsOfBillingToken, permissionsOfKey, roleSettingsDefault } from '../../src/accounts/people/permissions-of.ts';
import type { Permission } from '../../src/accounts/people/permissions.ts';
import { operations } from '../../src/admin/resources/registry.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, openBrowser, signInByLink } from './console-client.ts';

type Item = Readonly<Record<string, unknown>>;

describe('signing in with an API key or a billing token', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  /** The answer of the creation of a key. */
  let key: Item;
  let foreign: Item;
  before(async () => {
    const config = 'console: { signIn: [apiKey, billingToken], requestsPerMinute: 100000 }\n';
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config, monitor: false });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    key = (await operator.send('POST', '/api/v1/keys', { user: 'kim', name: 'api' })).body;
    foreign = (await operator.send('POST', '/api/v1/keys', { user: 'eve', name: 'api' })).body;
  });
  after(() => weir[Symbol.asyncDispose]());

  async function signIn(proof: object): Promise<ConsoleClient> {
    const browser = openBrowser(weir.consoleUrl);
    const answer = await browser.send('POST', '/api/v1/session', proof);
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.body['person'], null);
    return browser;
  }
  const makeToken = async (name: string, user?: string) =>
    (await operator.send('POST', '/api/v1/billing_tokens', { name, ...(user !== undefined && { user }) })).body;

  test('a key sees its own user, and everything of others is answered as if it did not exist', async () => {
    const kim = await signIn({ api_key: key['secret'] });
    const { person, actor, users } = (await kim.send('GET', '/api/v1/session')).body;
    assert.deepEqual([person, actor, users], [null, `key:${String(key['id'])}`, ['kim']]);
    assert.deepEqual((await kim.send('GET', '/api/v1/session/ways')).body['api_key'], true);
    for (const path of ['keys', 'users', 'credits/balances', 'calls', 'refusals']) {
      const { status, text } = await kim.send('GET', `/api/v1/${path}`);
      assert.equal(status, 200, `${path} ${text}`);
      assert.doesNotMatch(text, /"eve"|"admin"/, path);
    }
    for (const path of [`keys/${String(foreign['id'])}`, 'users/eve', 'users/eve/transactions', 'standing?user=eve'])
      assert.equal((await kim.send('GET', `/api/v1/${path}`)).status, 404, path);
    assert.equal((await kim.send('GET', `/api/v1/keys/${String(key['id'])}`)).status, 200);
    const made = await kim.send('POST', '/api/v1/keys', { user: 'kim', name: 'more' });
    assert.deepEqual([made.status, made.body['permission']], [403, 'keys:write']);
    for (const [method, path, body] of [
      ['POST', '/session/confirm', { password: 'a password that is long' }],
      ['PUT', '/session/password', { password: 'a password that is long' }],
    ] as const)
      assert.equal((await kim.send(method, `/api/v1${path}`, body)).status, 404, path);
    const audit = await operator.send('GET', '/api/v1/audit?action=sessions.create&limit=1');
    assert.equal((audit.body['items'] as Item[])[0]?.['actor'], `key:${String(key['id'])}`);
  });

  test('every operation is open to a key and to a billing token exactly as their permissions say', async () => {
    const token = await makeToken('reader');
    const callers: readonly (readonly [ConsoleClient, ReadonlySet<Permission>])[] = [
      [await signIn({ api_key: key['secret'] }), permissionsOfKey({}, roleSettingsDefault)],
      [await signIn({ billing_token: token['secret'] }), permissionsOfBillingToken],
    ];
    // These end the session, or are for people alone.
    const apart = new Set(['session.delete', 'device_sign_ins.get', 'device_sign_ins.approve', 'device_sign_ins.deny']);
    for (const { id, method, path, access, streams } of operations) {
      if (access === 'anybody' || apart.has(id) || streams?.includes('text/event-stream') === true) continue;
      for (const [client, permissions] of callers) {
        const body = method === 'GET' || method === 'DELETE' ? undefined : {};
        const answer = await client.send(method, `/api/v1${path.replaceAll(/\{\w+\}/g, 'x')}`, body, { 'if-match': '*' });
        const may: boolean = access === 'signed-in' || permissions.has(access);
        assert.equal(answer.body['code'] !== 'permission_required', may, `${id}: ${answer.status} ${answer.text}`);
        assert.ok(answer.status < 500, `${id}: ${answer.text}`);
      }
    }
    for (const [client] of callers) {
      const approved = await client.send('POST', '/api/v1/device_sign_ins/BCDFG-HJKLM/approve', {});
      assert.deepEqual([approved.status, approved.body['code']], [403, 'permission_required'], 'only a person lets machines in');
    }
  });

  test('a billing token of a user reads the usage of this user alone', async () => {
    const token = await makeToken('of-kim', 'kim');
    const reader = await signIn({ billing_token: token['secret'] });
    assert.deepEqual((await reader.send('GET', '/api/v1/session')).body['users'], ['kim']);
    assert.equal((await reader.send('GET', '/api/v1/calls?user=eve')).status, 200);
    assert.equal((await reader.send('GET', '/api/v1/keys')).body['permission'], 'keys:read');
    assert.equal((await operator.send('DELETE', `/api/v1/billing_tokens/${String(token['id'])}`)).status, 204);
    assert.equal((await reader.send('GET', '/api/v1/session')).status, 401);
  });

  test('disabling a key ends its sessions, enabling it brings none back, and signing out ends them on the server', async () => {
    const path = `/api/v1/keys/${String(key['id'])}`;
    const kim = await signIn({ api_key: key['secret'] });
    const stolen = kim.cookie();
    const read = () => fetch(`${weir.consoleUrl}/api/v1/session`, { headers: { cookie: stolen } });
    const turn = async (disabled: boolean) => (await operator.send('PATCH', path, { disabled }, { 'if-match': '*' })).status;
    assert.equal(await turn(true), 200);
    assert.equal((await read()).status, 401);
    const refused = await openBrowser(weir.consoleUrl).send('POST', '/api/v1/session', { api_key: key['secret'] });
    const unknown = await openBrowser(weir.consoleUrl).send('POST', '/api/v1/session', { api_key: 'sk-weir-unknown' });
    assert.deepEqual([refused.status, refused.body['detail']], [401, unknown.body['detail']]);
    assert.equal(await turn(false), 200);
    assert.equal((await read()).status, 401);
    const [one, two] = [await signIn({ api_key: key['secret'] }), await signIn({ api_key: key['secret'] })];
    assert.equal((await one.send('DELETE', '/api/v1/session')).status, 204);
    assert.equal(one.cookie(), '');
    assert.equal((await two.send('GET', '/api/v1/session')).status, 200);
    const third = await signIn({ api_key: key['secret'] });
    assert.equal((await third.send('DELETE', '/api/v1/session?everywhere=true')).status, 204);
    assert.equal((await two.send('GET', '/api/v1/session')).status, 401);
    assert.equal(
      (await fetch(`${weir.gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${String(key['secret'])}` } })).status,
      200,
    );
  });

  test('another site signs nobody in, a secret opens its own kind only, and a flood of wrong keys is slowed down', async () => {
    const send = (proof: object, headers = {}) => openBrowser(weir.consoleUrl).send('POST', '/api/v1/session', proof, headers);
    assert.equal((await send({ api_key: key['secret'] }, { 'sec-fetch-site': 'cross-site' })).body['code'], 'cross_origin');
    assert.equal((await send({ billing_token: key['secret'] })).status, 401);
    assert.equal((await send({ api_key: key['secret'], name: 'operator' })).status, 400);
    const statuses = new Set<number>();
    for (let index = 0; index < 40; index += 1) statuses.add((await send({ api_key: `sk-weir-wrong-${index}` })).status);
    assert.deepEqual([...statuses], [401, 429]);
    assert.equal((await operator.send('GET', '/api/v1/session')).status, 200);
  });
});
