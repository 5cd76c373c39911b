import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { askApi, signInAs } from './ask-api.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';

const chromiumPath = findChromium();

describe(
  'settings and the sign-in of command lines',
  { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false },
  () => {
    let weir: ServedWeir;
    let pages: Pages;
    const opened = new AsyncDisposableStack();

    before(async () => {
      weir = opened.use(await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, monitor: false }));
      pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
      await pages.page.goto(weir.consoleLink);
      await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
      await askApi(pages.context, 'PUT', '/session/password', { password: 'a long enough passphrase' });
    });
    after(() => opened.disposeAsync());

    /** A command line on another machine begins to sign in. */
    async function begin(): Promise<{ readonly code: string; readonly poll: () => Promise<Response> }> {
      const send = (path: string, body: unknown) =>
        fetch(`${weir.consoleUrl}/api/v1${path}`, {
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
      const { page } = pages;
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
      pages.assertQuiet();
    });

    test('the fields of the configuration are found by name, and a secret is never shown', async () => {
      const { page } = pages;
      await page.goto('/settings/config');
      await page.getByLabel('Search any field').fill('timeouts');
      await page.waitForURL(/q=timeouts/);
      await page
        .getByRole('cell', { name: /timeouts/ })
        .first()
        .waitFor();
      assert.ok(!(await page.content()).includes(weir.apiKey));
      pages.assertQuiet();
    });

    test('a command line is compared, approved and signed in, and its code leaves the address', async () => {
      const { page } = pages;
      const { code, poll } = await begin();
      await page.goto('about:blank');
      await page.goto(`/#device=${code}`);
      await page.getByText('laptop of zoe').waitFor();
      assert.ok(!page.url().includes(code), page.url());
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Approved: the command line goes on').waitFor();
      assert.equal((await poll()).status, 200);
      pages.assertQuiet();
    });

    test('a refused command line gets no token, and a code that nobody was given is said to be unknown', async () => {
      const { page } = pages;
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
      pages.assertQuiet(/404/);
    });

    for (const path of [
      '/settings',
      '/settings/people',
      '/settings/tokens',
      '/settings/config',
      '/settings/nodes',
      '/settings/about',
      '/device',
    ])
      test(`${path} has no barrier`, async () => {
        await pages.page.evaluate('sessionStorage.clear()');
        await assertNoBarrier(pages, weir.consoleUrl, path);
      });

    test('a viewer sees the own settings, and no section of operators', async () => {
      const { page } = pages;
      await signInAs(pages, weir.consoleUrl, { name: 'vera', role: 'viewer' });
      await page.goto('/settings');
      await page.getByText('Signed in as').waitFor();
      for (const name of ['People & ways in', 'Tokens', 'Configuration'])
        assert.equal(await page.getByRole('link', { name }).count(), 0, name);
      await page.getByLabel('Rows of tables').selectOption('compact');
      assert.equal(await page.evaluate<string>('document.documentElement.dataset.density'), 'compact');
      await page.goto('/settings/people');
      await page
        .getByText(/no page|no such|There is no/i)
        .first()
        .waitFor();
      pages.assertQuiet();
    });
  },
);
