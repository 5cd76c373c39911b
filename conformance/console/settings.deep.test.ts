import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { waitForLetters } from './by-keyboard.ts';
import { askApi, signInAs } from './ask-api.ts';
import { assertNoBarrier, skipPages } from './open-pages.ts';
import { serveSuite } from './serve-suite.ts';

describe('settings and the sign-in of command lines', { skip: skipPages }, () => {
  const suite = serveSuite(({ pages }) => askApi(pages.context, 'PUT', '/session/password', { password: 'a long enough passphrase' }));

  /** A command line on another machine begins to sign in. */
  async function begin(): Promise<{ readonly code: string; readonly poll: () => Promise<Response> }> {
    const send = (path: string, body: unknown) =>
      fetch(`${suite.weir.consoleUrl}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
        body: JSON.stringify(body),
      });
    const begun = (await (await send('/device_sign_ins', { client_name: 'laptop of zoe' })).json()) as {
      user_code: string;
      device_code: string;
    };
    return { code: begun.user_code, poll: () => send('/device_sign_ins/token', { device_code: begun.device_code }) };
  }

  test('a person is invited with a role, and a link that works once is shown once', async () => {
    const { page } = suite.pages;
    await page.goto('/settings/people');
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('Name', { exact: true }).fill('zoe');
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByRole('button', { name: 'Make the person' }).click();
    await page.getByRole('cell', { name: 'zoe' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    await page.getByRole('button', { name: 'Make it' }).click();
    const link = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
    assert.match(link, /#in=/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    assert.ok(!(await page.content()).includes(link), 'the link leaves the page with its dialog');
    suite.pages.assertQuiet();
  });

  test('the fields of the configuration are found by name, and a secret is never shown', async () => {
    const { page } = suite.pages;
    await page.goto('/settings/config');
    await page.getByLabel('Search any field').fill('timeouts');
    await page.waitForURL(/q=timeouts/);
    await page
      .getByRole('cell', { name: /timeouts/ })
      .first()
      .waitFor();
    assert.ok(!(await page.content()).includes(suite.weir.apiKey));
    suite.pages.assertQuiet();
  });

  test('a command line is compared, approved and signed in, and its code leaves the address', async () => {
    const { page } = suite.pages;
    const { code, poll } = await begin();
    await page.goto('about:blank');
    await page.goto(`/#device=${code}`);
    await page.getByText('laptop of zoe').waitFor();
    assert.ok(!page.url().includes(code), page.url());
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved: the command line goes on').waitFor();
    assert.equal((await poll()).status, 200);
    suite.pages.assertQuiet();
  });

  test('a refused command line gets no token, and a code that nobody was given is said to be unknown', async () => {
    const { page } = suite.pages;
    const { code, poll } = await begin();
    await page.goto('about:blank');
    await page.goto(`/#device=${code}`);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Refuse it' }).click();
    await page.getByText('Refused: the command line says so').waitFor();
    assert.equal((await poll()).status, 400);
    await page.goto('about:blank');
    await page.goto('/#device=BBBBB-BBBBB');
    await page.getByText('not_found').waitFor();
    suite.pages.assertQuiet(/404/);
  });

  test('long work is found by its name, shows how it ended, and leads to its result', async () => {
    const { page } = suite.pages;
    const started = await askApi(suite.pages.context, 'POST', '/upstreams/simulated-anthropic/checks', { may_call: false });
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await waitForLetters(page);
    await page.keyboard.press('Control+k');
    // The page behind the palette has a combobox too.
    await page.getByRole('combobox').and(page.locator(':focus')).fill('long work');
    await page.getByRole('option', { name: 'Long work' }).waitFor();
    await page.keyboard.press('Enter');
    const row = page.getByRole('row').filter({ hasText: 'simulated-anthropic' });
    // The list asks again by itself until the work has ended.
    await row.getByText('done').waitFor();
    await row.getByText('Check of an upstream').click();
    await page.getByRole('complementary', { name: 'Long work' }).getByText(String(started['id']), { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Cancel' }).count(), 0, 'what has ended cannot be cancelled');
    await page.getByRole('link', { name: 'Its result' }).click();
    await page.getByText('✓ Healthy').waitFor();
    suite.pages.assertQuiet();
  });

  test('work that runs is cancelled in its panel, and a list that cannot be read says so and is read again', async () => {
    const { page } = suite.pages;
    // The page of an upstream would ask for it when the layer below has taken the simulated ones away.
    await page.goto('about:blank');
    // An upstream that does not answer keeps its check running.
    const silent = createServer((request) => void request.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    suite.opened.defer(() => void silent.close());
    suite.opened.defer(() => silent.closeAllConnections());
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
    const layer = { upstreams: { silent: { vendor: 'openai-compatible', baseUrl } } };
    await askApi(suite.pages.context, 'POST', '/config/layers', { layer }, { 'if-match': '"0"' });
    const path = '/upstreams/silent/checks';
    const started = await eventually(
      () => askApi(suite.pages.context, 'POST', path, { may_call: true, timeout_s: 600 }).catch(() => undefined),
      (answer) => answer !== undefined,
    );
    await page.route('**/api/v1/operations?**', (route) => route.fulfill({ status: 503, body: 'away' }), { times: 4 });
    await page.goto(`/operations?operation=${String(started?.['id'])}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('row').filter({ hasText: 'silent' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this work?' });
    await dialog.getByText('The same without this page').click();
    await dialog.getByText(`weir operations cancel ${String(started?.['id'])}`).waitFor();
    await dialog.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByText('It was cancelled.').waitFor();
    suite.pages.assertQuiet(/status of 503/);
  });

  test('layers are compared, edited, and an earlier one is published again, and a mistake is named with its line', async () => {
    const { page } = suite.pages;
    await page.goto('/settings/layers');
    await page.getByRole('button', { name: 'Edit and publish' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit and publish the configuration' });
    const text = edit.getByRole('textbox', { name: /as YAML or JSON/ });
    const before = await text.inputValue();
    assert.match(before, /"silent"/);
    await text.fill(`${before.trimEnd().slice(0, -1)},\n"models": {"house": {"nonsense": 1}}}`);
    await edit.getByText('models.house.nonsense').first().waitFor();
    await edit.getByRole('button', { name: 'Publish' }).click();
    await edit
      .getByText(/^\d+:\d+ models\.house/)
      .first()
      .waitFor();
    const limit = '"limits": {"perKey": {"requestsPerMinute": 77}}';
    await text.fill(`${before.trimEnd().slice(0, -1)},\n${limit}}`);
    await edit.getByLabel('Note').fill('fewer requests');
    await edit.getByRole('button', { name: 'Check', exact: true }).click();
    await edit.getByText('No upstream changes, so there is nothing to check.').waitFor();
    // Somebody else publishes first: the dialog says so, and the next press is about the present state.
    const newest = JSON.parse(before) as object;
    await askApi(suite.pages.context, 'POST', '/config/layers', { layer: newest, note: 'of the other one' }, { 'if-match': '"1"' });
    await edit.getByRole('button', { name: 'Publish' }).click();
    await edit.getByText('Somebody else has changed this').waitFor();
    await edit.getByRole('button', { name: 'Publish all the same' }).click();
    await edit.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'fewer requests' }).click();
    const panel = page.getByRole('complementary', { name: 'Layer' });
    await panel.getByText('limits.perKey.requestsPerMinute').waitFor();
    await panel.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('cell', { name: 'of the other one' }).click();
    await page.getByRole('button', { name: 'Publish this one again' }).click();
    const back = page.getByRole('dialog', { name: 'Publish layer 2 again?' });
    await back.getByText('taken away').waitFor();
    await back.getByText('The same without this page').click();
    await back.getByText('weir config rollback 2').waitFor();
    await back.getByRole('button', { name: 'Publish layer 2' }).click();
    await page.getByRole('cell', { name: 'layer 2 again' }).waitFor();
    suite.pages.assertQuiet(/status of 4(00|12)/);
  });

  test('everybody ends the own sessions, of this browser last', async () => {
    const { page } = suite.pages;
    const other = await fetch(`${suite.weir.consoleUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'idempotency-key': crypto.randomUUID() },
      body: JSON.stringify({ name: 'operator', password: 'a long enough passphrase' }),
    });
    assert.equal(other.status, 201, await other.text());
    const cookie = other.headers.get('set-cookie')?.split(';')[0] ?? '';
    const check = () => fetch(`${suite.weir.consoleUrl}/api/v1/session`, { headers: { cookie } });
    assert.equal((await check()).status, 200);
    await page.goto('/settings/you');
    await page
      .getByRole('button', { name: /^End the session of/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await page.getByText('The session has ended').first().waitFor();
    await eventually(check, ({ status }) => status === 401);
    suite.pages.assertQuiet();
  });

  for (const path of [
    '/operations',
    '/settings',
    '/settings/people',
    '/settings/tokens',
    '/settings/config',
    '/settings/layers?layer=2',
    '/settings/nodes',
    '/settings/about',
    '/device',
  ])
    test(`${path} has no barrier`, async () => {
      await suite.pages.page.evaluate('sessionStorage.clear()');
      await assertNoBarrier(suite.pages, suite.weir.consoleUrl, path);
    });

  test('a viewer sees the own settings, and no section of operators', async () => {
    const { page } = suite.pages;
    await signInAs(suite.pages, suite.weir.consoleUrl, { name: 'vera', role: 'viewer' });
    await page.goto('/settings');
    await page.getByText('Signed in as').waitFor();
    for (const name of ['People & ways in', 'Tokens', 'Configuration'])
      assert.equal(await page.getByRole('link', { name }).count(), 0, name);
    await page.getByRole('button', { name: 'Sign out of this browser' }).waitFor();
    await page.getByLabel('Rows of tables').selectOption('compact');
    assert.equal(await page.evaluate<string>('document.documentElement.dataset.density'), 'compact');
    await page.goto('/settings/people');
    await page
      .getByText(/no page|no such|There is no/i)
      .first()
      .waitFor();
    suite.pages.assertQuiet();
  });
});
