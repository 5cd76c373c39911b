import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, openBrowser, signInByLink } from './console-client.ts';

const password = 'a passphrase for hijack tests';

describe('attacks on sessions', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  before(async () => {
    weir = await serveWeir({ config: 'trustedProxies: [127.0.0.1]', environment: { WEIR_CONSOLE_PORT: '0' } });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    assert.equal((await operator.send('PUT', '/api/v1/session/password', { password })).status, 204);
  });
  after(() => weir[Symbol.asyncDispose]());

  const read = (cookie: string) => fetch(`${weir.consoleUrl}/api/v1/session`, { headers: { cookie } });
  const signIn = (headers: Readonly<Record<string, string>>) =>
    fetch(`${weir.consoleUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name: 'operator', password }),
    });

  test('a sign-in never takes over a token that the browser brought', async () => {
    const planted = `weir_session=${'A'.repeat(43)}`;
    const opened = await signIn({ cookie: planted, 'sec-fetch-site': 'same-origin' });
    assert.equal(opened.status, 201);
    const [set = ''] = opened.headers.getSetCookie();
    assert.ok(!set.startsWith(planted));
    assert.deepEqual([(await read(planted)).status, (await read(set.split(';', 1)[0] ?? '')).status], [401, 200]);
    const attacker = openBrowser(weir.consoleUrl);
    await attacker.send('POST', '/api/v1/session', { name: 'operator', password });
    const own = attacker.cookie();
    const victim = await signIn({ cookie: own, 'sec-fetch-site': 'same-origin' });
    assert.ok(!(victim.headers.getSetCookie()[0] ?? '').startsWith(own), 'the session of the victim has a token of its own');
  });

  test('a stolen cookie ends with the sign-out', async () => {
    const browser = openBrowser(weir.consoleUrl);
    await browser.send('POST', '/api/v1/session', { name: 'operator', password });
    const stolen = browser.cookie();
    assert.equal((await read(stolen)).status, 200);
    assert.equal((await browser.send('DELETE', '/api/v1/session')).status, 204);
    assert.equal((await read(stolen)).status, 401);
  });

  test('a page of another site changes nothing and signs nobody in', async () => {
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of foreign) {
      const named = JSON.stringify(headers);
      assert.equal((await signIn(headers)).status, 403, named);
      const sent = { cookie: operator.cookie(), 'content-type': 'application/json', ...headers };
      const made = await fetch(`${weir.consoleUrl}/api/v1/users`, { method: 'POST', headers: sent, body: '{"name":"forged"}' });
      assert.equal(made.status, 403, named);
    }
    const users = await operator.send('GET', '/api/v1/users');
    assert.ok(!users.text.includes('forged'));
  });

  test('the gateway and the monitor ignore the cookie of a session', async () => {
    const cookie = operator.cookie();
    assert.equal((await fetch(`${weir.gatewayUrl}/v1/models`, { headers: { cookie } })).status, 401);
    const body = JSON.stringify({ start: '2026-01-01', end: '2026-01-02' });
    const headers = { cookie, 'content-type': 'application/json' };
    assert.equal((await fetch(`${weir.monitorUrl}/bill/stats`, { method: 'POST', headers, body })).status, 401);
  });

  test('behind a trusted proxy the log and the limits of wrong sign-ins have the address of the client', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': `203.0.113.9, ${address}` });
    const guess = (address: string) =>
      openBrowser(weir.consoleUrl).send('POST', '/api/v1/session', { code: 'x'.repeat(43) }, from(address));
    const wrong = (address: string) =>
      fetch(`${weir.consoleUrl}/api/v1/session`, { headers: { authorization: 'Bearer at-weir-wrong', ...from(address) } });
    assert.equal((await guess('192.0.2.7')).status, 401);
    const log = await operator.send('GET', '/api/v1/audit?limit=20');
    assert.ok(log.text.includes('192.0.2.7'), log.text);
    assert.ok(!log.text.includes('203.0.113.9'), 'what a client claims counts for nothing');
    const statuses = new Set<number>();
    for (let tries = 0; tries < 32; tries += 1) statuses.add((await wrong('192.0.2.7')).status);
    assert.deepEqual([...statuses], [401, 429]);
    assert.equal((await wrong('192.0.2.8')).status, 401, 'another client behind the proxy has tries of its own');
  });

  test('after ten wrong passwords a person has to wait, and a link still lets it in', async () => {
    const browser = openBrowser(weir.consoleUrl);
    const made = await operator.send('POST', '/api/v1/people', { name: 'Flo', role: 'viewer' });
    const statuses = new Set<number>();
    for (let tries = 0; tries < 12; tries += 1) {
      const { status, headers } = await browser.send('POST', '/api/v1/session', { name: 'Flo', password: `wrong ${tries} wrong ${tries}` });
      statuses.add(status);
      if (status === 429) assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    }
    assert.deepEqual([...statuses], [401, 429]);
    const link = await operator.send('POST', `/api/v1/people/${String(made.body['id'])}/link`);
    await signInByLink(weir.consoleUrl, String(link.body['url']));
  });
});
