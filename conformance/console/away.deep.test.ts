import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { Page } from 'playwright-core';

import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type PostgresServer, skipPostgres } from '../support/start-postgres.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { askApi } from './ask-api.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();
const skip = skipPostgres === false ? chromiumPath === undefined && 'there is no Chromium on this machine' : skipPostgres;
const password = 'a long enough passphrase';
/** What a browser writes about requests that fail while something is away. */
const failures = /status of (401|503)|net::ERR_|Failed to fetch|ApiProblem|TimeoutError/;

describe('pages that are open while something is away (journey 15)', { skip }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  let postgres: PostgresServer;
  let secret = '';
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole({ store: 'postgres', database: { connectMs: 1000, statementMs: 2000 } }));
    postgres = weir.postgres ?? assert.fail('This suite needs PostgreSQL.');
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await pages.page.goto(weir.consoleLink);
    await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await askApi(pages.context, 'PUT', '/session/password', { password });
    secret = String((await askApi(pages.context, 'POST', '/keys', { user: 'away-anna', name: 'app' }))['secret']);
    assert.equal(await callModel(), 200);
  });
  after(() => opened.disposeAsync());

  async function callModel(): Promise<number> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }
  const stale = () => pages.page.getByRole('alert').filter({ hasText: /^no answer; as of \d\d:\d\d:\d\d$/ });
  const goTo = (name: string) => pages.page.getByRole('link', { name, exact: true }).click();

  test('the database goes away: figures stay with their time, a new page names the problem, and both recover by themselves', async () => {
    const { page } = pages;
    await page.goto('/');
    await page.getByText('Spend today').waitFor();
    postgres.signal('SIGKILL');
    await stale().waitFor();
    assert.ok(await page.getByText('Spend today').isVisible(), 'the figures of before are still there');
    assert.deepEqual(await findViolations(page), []);
    await goTo('Keys & users');
    await page.getByText('The server cannot answer at the moment.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    assert.equal(await callModel(), 200, 'calls of known keys continue');
    const opened = await pages.context.newPage();
    await opened.goto(`${weir.consoleUrl}/users`);
    await opened.getByText('The page tries again by itself').waitFor();
    assert.deepEqual(await findViolations(opened), [], 'a page that is opened meanwhile');
    await postgres.restart();
    await page.getByRole('link', { name: 'away-anna/app' }).waitFor();
    await opened.getByRole('link', { name: 'away-anna' }).waitFor();
    await opened.close();
    await stale().waitFor({ state: 'detached' });
    pages.assertQuiet(failures);
  });

  /** Pages of different kinds: lists, sums, statements, settings. */
  const kept = ['/usage?r=24h', '/calls?r=24h', '/users', '/credits', '/credits?tab=statement', '/audit', '/settings/people'];

  test('every page keeps its answers without a database, with their time, and goes on by itself', async () => {
    await pages.page.goto('about:blank');
    const rowsOf = (page: Page) => page.evaluate<number>(`document.querySelectorAll('main tr, main dd').length`);
    const isAway = (page: Page) => page.getByRole('alert').filter({ hasText: /^no answer; as of \d\d:\d\d:\d\d$/ });
    const tabs: { readonly path: string; readonly page: Page; readonly rows: number }[] = [];
    for (const path of kept) {
      const page = await pages.context.newPage();
      await page.goto(`${weir.consoleUrl}${path}`);
      await page.locator('h1').waitFor();
      await page.waitForLoadState('networkidle');
      tabs.push({ path, page, rows: await rowsOf(page) });
    }
    postgres.signal('SIGKILL');
    try {
      for (const { path, page, rows } of tabs) {
        // Somebody comes back to the tab, so that it asks again; not if its answer is only seconds old.
        const comeBack = async (): Promise<number> => {
          await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
          return await isAway(page).count();
        };
        await eventually(comeBack, (count) => count === 1, 60_000).catch(() => assert.fail(`${path} does not say that it is old`));
        assert.equal(await rowsOf(page), rows, path);
      }
    } finally {
      await postgres.restart();
    }
    for (const { page } of tabs) {
      await isAway(page).waitFor({ state: 'detached' });
      await page.close();
    }
  });

  test('a database that is silent: the page says that it loads, then that there is no answer, and goes on when there is one', async () => {
    const { page } = pages;
    await page.goto('/');
    await page.getByText('Spend today').waitFor();
    postgres.signal('SIGSTOP');
    try {
      await goTo('Calls');
      await page.getByRole('status', { name: 'Loading' }).first().waitFor();
      await page.getByText('The server cannot answer at the moment.').first().waitFor();
    } finally {
      postgres.signal('SIGCONT');
    }
    await page.getByRole('row').filter({ hasText: 'away-anna/app' }).first().waitFor();
    await page.getByText('The server cannot answer at the moment.').waitFor({ state: 'detached' });
    pages.assertQuiet(failures);
  });

  test('a console restarts while pages are open: they say so, pages opened meanwhile come later, and nobody signs in again', async () => {
    const { page } = pages;
    const config = `database: ${JSON.stringify({ url: postgres.url() })}\n`;
    const start = (port: string): Promise<ServedWeir> =>
      serveWeir({ command: 'console', config, environment: { WEIR_CONSOLE_PORT: port } });
    const first = await start('0');
    await page.goto(`${first.consoleUrl}/keys`);
    await page.getByRole('link', { name: 'away-anna/app' }).waitFor();
    await first[Symbol.asyncDispose]();
    // Its file is not loaded yet.
    await goTo('Audit');
    await stale()
      .or(page.getByText('no answer', { exact: true }))
      .waitFor();
    await using _again = await start(new URL(first.consoleUrl).port);
    await page.getByRole('cell', { name: 'keys.create' }).first().waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.goto('about:blank');
    pages.assertQuiet(failures);
  });

  test('a session ends while a page is open: the page stays readable, and the sign-in leads back to it', async () => {
    const { page, context } = pages;
    await page.goto(`${weir.consoleUrl}/keys?user=away-anna`);
    await page.getByRole('link', { name: 'away-anna/app' }).waitFor();
    await askApi(context, 'DELETE', '/session');
    await page.getByRole('button', { name: 'Remove the filter user: away-anna' }).click();
    await page.getByText('Your session has ended. This page shows what it showed before.').waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByRole('link', { name: 'Sign in again' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('operator');
    await page.getByLabel('Password').fill('not the passphrase');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'away-anna/app' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/keys');
    await eventually(
      () => page.getByText('Your session has ended', { exact: false }).count(),
      (count) => count === 0,
    );
    pages.assertQuiet(failures);
  });
});
