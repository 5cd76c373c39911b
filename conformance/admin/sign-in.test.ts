import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, openBrowser, signInByLink, tokenClient } from './console-client.ts';

const password = 'a long enough passphrase';

describe('signing in to the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' } });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
  });
  after(() => weir[Symbol.asyncDispose]());

  test('the link of the start signs an operator in, and only once', async () => {
    const { status, body } = await operator.send('GET', '/api/v1/session');
    assert.equal(status, 200);
    assert.equal((body['person'] as { role: string }).role, 'operator');
    assert.ok((body['permissions'] as string[]).includes('people:write'));
    const again = await openBrowser(weir.consoleUrl).send('POST', '/api/v1/session', { code: new URL(weir.consoleLink).hash.slice(4) });
    assert.deepEqual([again.status, again.body['code']], [401, 'unauthenticated']);
    assert.ok(!weir.output().includes(new URL(weir.consoleLink).hash), 'the code is not in the log');
  });

  test('an operator sets a password, signs in with it, and can make other people from then on', async () => {
    const early = await operator.send('POST', '/api/v1/people', { name: 'Fay', role: 'finance' });
    assert.equal(early.status, 409, early.text);
    assert.equal((await operator.send('PUT', '/api/v1/session/password', { password: 'short' })).status, 400);
    assert.equal((await operator.send('PUT', '/api/v1/session/password', { password })).status, 204);
    const made = await operator.send('POST', '/api/v1/people', { name: 'Fay', role: 'finance' });
    assert.equal(made.status, 201, made.text);
    const browser = openBrowser(weir.consoleUrl);
    const wrong = await browser.send('POST', '/api/v1/session', { name: 'operator', password: `${password}!` });
    const nobody = await browser.send('POST', '/api/v1/session', { name: 'nobody', password });
    assert.deepEqual([wrong.status, wrong.body['detail']], [nobody.status, nobody.body['detail']]);
    assert.equal((await browser.send('POST', '/api/v1/session', { name: 'Operator', password })).status, 201);
    assert.equal((await browser.send('GET', '/api/v1/session')).status, 200);
  });

  test('keys and billing tokens sign nobody in unless the configuration says so', async () => {
    for (const proof of [{ api_key: weir.apiKey }, { billing_token: weir.billingToken }]) {
      const { status, body } = await openBrowser(weir.consoleUrl).send('POST', '/api/v1/session', proof);
      assert.deepEqual([status, body['code']], [409, 'conflict']);
    }
    const ways = (await openBrowser(weir.consoleUrl).send('GET', '/api/v1/session/ways')).body;
    assert.deepEqual([ways['api_key'], ways['billing_token']], [false, false]);
  });

  test('signing out ends the session on the server', async () => {
    const browser = openBrowser(weir.consoleUrl);
    await browser.send('POST', '/api/v1/session', { name: 'operator', password });
    const stolen = browser.cookie();
    assert.equal((await browser.send('DELETE', '/api/v1/session')).status, 204);
    assert.equal(browser.cookie(), '');
    const reused = await fetch(`${weir.consoleUrl}/api/v1/session`, { headers: { cookie: stolen } });
    assert.equal(reused.status, 401);
  });

  test('finance sees the books, and lacks the permission to administer people', async () => {
    const fay = ((await operator.send('GET', '/api/v1/people')).body['items'] as { id: string; name: string }[]).find(
      ({ name }) => name === 'Fay',
    );
    const link = await operator.send('POST', `/api/v1/people/${fay?.id}/link`);
    const browser = await signInByLink(weir.consoleUrl, String(link.body['url']));
    assert.equal((await browser.send('GET', '/api/v1/credits/balances')).status, 200);
    const refused = await browser.send('GET', '/api/v1/people');
    assert.deepEqual([refused.status, refused.body['permission']], [403, 'people:write']);
  });

  test('everybody sees and ends their own sessions without a permission, and nobody else has them', async () => {
    const [one, other] = [openBrowser(weir.consoleUrl), openBrowser(weir.consoleUrl)];
    for (const browser of [one, other]) await browser.send('POST', '/api/v1/session', { name: 'operator', password });
    const fay = (await operator.send('GET', '/api/v1/people')).body['items'] as { id: string; name: string }[];
    const link = await operator.send('POST', `/api/v1/people/${fay.find(({ name }) => name === 'Fay')?.id}/link`);
    const finance = await signInByLink(weir.consoleUrl, String(link.body['url']));
    const sessionsOf = async (client: ConsoleClient) =>
      (await client.send('GET', '/api/v1/sessions')).body['items'] as { id: string; is_present: boolean; user_agent: string }[];
    const lost = (await sessionsOf(other)).find(({ is_present: isPresent }) => isPresent)?.id ?? '';
    assert.ok((await sessionsOf(one)).some(({ id, is_present: isPresent }) => id === lost && !isPresent));
    assert.ok((await sessionsOf(one)).every(({ user_agent: agent }) => agent === 'node'));
    assert.ok(!(await sessionsOf(finance)).some(({ id }) => id === lost));
    assert.equal((await finance.send('DELETE', `/api/v1/sessions/${lost}`)).status, 404);
    assert.equal((await one.send('DELETE', `/api/v1/sessions/${lost}`)).status, 204);
    assert.equal((await other.send('GET', '/api/v1/session')).status, 401);
    const own = (await sessionsOf(finance)).find(({ is_present: isPresent }) => isPresent)?.id ?? '';
    assert.equal((await finance.send('DELETE', `/api/v1/sessions/${own}`)).status, 204);
    assert.equal(finance.cookie(), '', 'the cookie of the ended session is taken away');
  });

  test('an admin token does what it was given and nothing else, until it is deleted', async () => {
    const made = await operator.send('POST', '/api/v1/admin_tokens', { name: 'ci', permissions: ['audit:read'] });
    assert.equal(made.status, 201, made.text);
    const client = tokenClient(weir.consoleUrl, String(made.body['secret']));
    const audit = await client.send('GET', '/api/v1/audit?limit=2');
    assert.equal(audit.status, 200);
    assert.equal((audit.body['items'] as unknown[]).length, 2);
    const next = await client.send('GET', `/api/v1/audit?limit=2&cursor=${String(audit.body['next_cursor'])}`);
    assert.equal(next.status, 200);
    assert.equal(
      (await client.send('GET', `/api/v1/audit?limit=2&action=x&cursor=${String(audit.body['next_cursor'])}`)).body['code'],
      'cursor_mismatch',
    );
    assert.equal((await client.send('GET', '/api/v1/credits/balances')).status, 403);
    assert.equal((await operator.send('DELETE', `/api/v1/admin_tokens/${String(made.body['id'])}`)).status, 204);
    assert.equal((await client.send('GET', '/api/v1/audit')).status, 401);
  });

  test('money is posted once for a reference, and shows in the balance and the audit log', async () => {
    const top = { kind: 'top_up', usd: '12.5', reference: 'invoice-1' };
    const first = await operator.send('POST', '/api/v1/users/admin/transactions', top);
    assert.equal(first.status, 201, first.text);
    const again = await operator.send('POST', '/api/v1/users/admin/transactions', top);
    assert.deepEqual([first.body['repeated'], again.body['repeated']], [false, true]);
    assert.deepEqual(again.body['balance'], { nano_usd: '12500000000', usd: '12.5' });
    const other = await operator.send('POST', '/api/v1/users/admin/transactions', { ...top, usd: '13' });
    assert.deepEqual([other.status, other.body['code']], [409, 'conflict']);
    assert.equal((await operator.send('POST', '/api/v1/users/nobody/transactions', top)).status, 404);
    const audit = await operator.send('GET', '/api/v1/audit?action=credits.top_up');
    assert.equal((audit.body['items'] as { actor: string }[])[0]?.actor, 'person:operator');
    assert.equal((await operator.send('POST', '/api/v1/audit/verifications')).body['broken_at'], null);
  });
});
