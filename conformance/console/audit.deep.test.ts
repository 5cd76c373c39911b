import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import { waitForLetters } from './by-keyboard.ts';
import { askApi, signInAs } from './ask-api.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();
/** Characters that would be markup, in a note that another person has written. */
const hostile = '<img src=x onerror=alert(1)> \u202eevil';

describe('the audit log in the console', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  let keyId: string;
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    const { page, context } = pages;
    await page.goto(weir.consoleLink);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const made = await askApi(context, 'POST', '/keys', { user: 'ann', name: 'audited', limits: { concurrency: 4 } });
    keyId = String(made['id']);
    await askApi(context, 'PATCH', `/keys/${keyId}`, { limits: { concurrency: 8 } }, { 'if-match': '*' });
    const order = { state: 'out', until: new Date(Date.now() + 3_600_000).toISOString(), reason: hostile };
    await askApi(context, 'PUT', '/targets/simulated-anthropic%2F*/override', order, { 'if-match': '*' });
  });
  after(() => opened.disposeAsync());

  test('a change is listed with its difference, and its panel has before and after, at an address of its own', async () => {
    const { page } = pages;
    await page.goto(`/audit?subject=key:${keyId}`);
    await page.getByText(/unbroken, \d+ rows/).waitFor();
    const changed = page.getByRole('row').filter({ hasText: 'keys.update' });
    await changed.getByText('limits.concurrency: 4 → 8').waitFor();
    assert.equal(await page.getByRole('row').count(), 3, 'the making, the change, and the titles');
    await changed.getByText('limits.concurrency').click();
    const panel = page.getByRole('complementary', { name: 'Change' });
    await panel.getByText('before: 4').waitFor();
    await panel.getByText('after: 8').waitFor();
    const shared = page.url();
    assert.match(shared, /[?&]row=\d+/);
    await page.goBack();
    await panel.waitFor({ state: 'detached' });
    await page.goto(shared);
    await panel.getByText('after: 8').waitFor();
    await panel.getByRole('link', { name: `key:${keyId}` }).click();
    await page.waitForURL(`**/keys/${keyId}`);
    pages.assertQuiet();
  });

  test('rows are walked by the keyboard, and a note stays a text', async () => {
    const { page } = pages;
    await page.goto('/audit?action=targets.take_out');
    await page.getByRole('row').filter({ hasText: '<img src=x' }).waitFor();
    await waitForLetters(page);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Change' });
    await panel.getByText('All changes of this subject').waitFor();
    assert.equal(await page.locator('img[src=x]').count(), 0);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    pages.assertQuiet();
  });

  test('the export has the rows of the filter and no others', async () => {
    const { page } = pages;
    await page.goto('/audit?action=keys.update');
    await page.getByRole('cell', { name: 'keys.update' }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { action: string }).action),
      ['keys.update'],
    );
    pages.assertQuiet();
  });

  test('no page has a barrier', async () => {
    for (const path of ['/audit', '/audit?row=1', '/audit?actor=person:nobody']) await assertNoBarrier(pages, weir.consoleUrl, path);
  });

  test('a row that somebody changed in the database is red, and named', async () => {
    const { page } = pages;
    await weir.tamper('audit_log', "update audit_log set actor = 'person:mallory' where sequence = 2");
    await page.goto('/audit');
    await page.getByRole('alert').getByText('broken at row 2').waitFor();
    await page.getByRole('button', { name: 'Open the row' }).click();
    await page.getByRole('complementary', { name: 'Change' }).getByText('person:mallory', { exact: true }).waitFor();
    pages.assertQuiet();
  });

  test('a person without the permission has no entry for it, and is refused by its address', async () => {
    const { page } = pages;
    await signInAs(pages, weir.consoleUrl, { name: 'Olga', role: 'owner', users: ['ann'] });
    assert.equal(await page.getByRole('link', { name: 'Audit', exact: true }).count(), 0);
    await page.goto('/audit');
    await page.getByText('The permission is audit:read.').first().waitFor();
    pages.assertQuiet(/status of 403/);
  });
});
