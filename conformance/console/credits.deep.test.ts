import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { askApi, signInAs } from './ask-api.ts';
import { tabTo } from './by-keyboard.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();

describe('limits and credits', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await pages.page.goto(weir.consoleLink);
    await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await askApi(pages.context, 'POST', '/users', { name: 'iris', prepaid: true });
    await askApi(pages.context, 'POST', '/users', { name: 'jon', limits: { spend_per_day_usd: '0' } });
    for (let number = 10; number < 70; number += 1) await askApi(pages.context, 'POST', '/users', { name: `many-${number}` });
  });
  after(() => opened.disposeAsync());

  test('journey 7: finance books a payment twice with one reference, it counts once, and the statement is printed, by keyboard alone', async () => {
    const { page } = pages;
    await signInAs(pages, weir.consoleUrl, { name: 'fina', role: 'finance' });
    await page.goto('/credits?tab=statement&account=user:iris');
    for (const words of ['$25.50 is booked', 'This reference was booked before']) {
      await page.getByRole('button', { name: 'Book a payment' }).waitFor();
      await tabTo(page, /^Book a payment$/);
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount (USD)').waitFor();
      await tabTo(page, /^Amount \(USD\)/);
      await page.keyboard.type('25.5');
      await tabTo(page, /^Reference/);
      await page.keyboard.type('invoice-77');
      const sides = dialog.getByRole('group', { name: 'Both sides of the posting' });
      await sides.getByText('deposits').waitFor();
      await sides.getByText('−$25.50').waitFor();
      await sides
        .getByText(words.startsWith('$') ? '$25.50' : '$51')
        .last()
        .waitFor();
      await tabTo(page, /^Book \$25\.50$/);
      await page.keyboard.press('Enter');
      await page.getByText(words).waitFor();
      await dialog.waitFor({ state: 'detached' });
    }
    // Two rows would be refused.
    await page.getByRole('row').filter({ hasText: 'invoice-77' }).waitFor();
    const closing = page.getByRole('row').filter({ hasText: 'Closing' });
    assert.match((await closing.textContent()) ?? '', /25\.50/);
    await page.emulateMedia({ media: 'print' });
    assert.ok(await closing.isVisible());
    assert.equal(await page.getByRole('navigation', { name: 'Pages' }).isVisible(), false, 'paper has the statement alone');
    assert.equal(await page.getByRole('link', { name: 'Skip to the page' }).isVisible(), false);
    // A foot of a table is printed on each page: the closing would be in the middle of the statement.
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('tfoot')).display"), 'table-row-group');
    assert.ok((await page.pdf({ format: 'A4' })).length > 10_000);
    await page.emulateMedia({ media: null });
    pages.assertQuiet();
  });

  test('the workbook is the statement, and an amount that is none is never sent', async () => {
    const { page } = pages;
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Workbook' }).click()]);
    assert.match(download.suggestedFilename(), /^statement-iris-\d{4}-\d\d-01\.xlsx$/);
    await page.getByRole('button', { name: 'Book a payment' }).click();
    await page.getByLabel('Amount (USD)').fill('1e3');
    await page.getByLabel('Reference').fill('x');
    assert.equal(await page.getByRole('button', { name: 'Book it' }).getAttribute('aria-disabled'), 'true');
    await page.keyboard.press('Escape');
    pages.assertQuiet();
  });

  test('limits stand nearest to their end first, and the books are added up now', async () => {
    const { page } = pages;
    await page.goto('/credits');
    const lines = page.getByRole('list', { name: 'All limits, nearest to their end first' }).getByRole('listitem');
    await lines.first().getByText('used up').waitFor();
    assert.match((await lines.first().textContent()) ?? '', /jon/);
    assert.match((await lines.nth(1).textContent()) ?? '', /iris.*balance.*\$25\.50.* left/);
    await page.getByRole('button', { name: 'Add up now' }).click();
    await page.getByText('rows recomputed just now').waitFor();
    pages.assertQuiet();
  });

  test('of more accounts than a list can show, one is found by a part of its name', async () => {
    const { page } = pages;
    await page.goto('/credits?tab=statement');
    const account = page.getByRole('combobox', { name: 'Account' });
    await account.fill('y-6');
    await page.getByText('Until then it is admin.').waitFor();
    const offered = page.locator('datalist option');
    await eventually(
      () => offered.evaluateAll((options) => options.map((option) => (option as unknown as { readonly value: string }).value)),
      (names) => names.includes('many-69') && !names.includes('many-10'),
    );
    assert.doesNotMatch(page.url(), /account=/, 'a part of a name chooses nothing');
    await account.fill('many-64');
    await page.waitForURL(/account=user%3Amany-64|account=user:many-64/);
    await page.getByRole('heading', { name: 'Statement of many-64' }).waitFor();
    pages.assertQuiet();
  });

  for (const path of ['/credits', '/credits?tab=statement', '/credits?tab=leases'])
    test(`${path} has no barrier`, () => assertNoBarrier(pages, weir.consoleUrl, path));
});
