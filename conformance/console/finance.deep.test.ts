import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import readXlsxFile from 'read-excel-file/node';

import { type ConsoleClient, signInByLink } from '../admin/console-client.ts';
import { eventually } from '../support/http.ts';
import { waitForLetters } from './by-keyboard.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';
import { linkFor } from './sign-in-as.ts';

const chromiumPath = findChromium();

describe('the console for finance', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  let operator: ConsoleClient;
  let call = '';
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    for (const user of ['billed-bea', 'billed-ben']) {
      const { secret } = (await operator.send('POST', '/api/v1/keys', { user, name: 'app' })).body;
      const response = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json', 'x-weir-tags': 'project=blue' },
        body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] }),
      });
      assert.equal(response.status, 200, await response.text());
      call = response.headers.get('x-weir-request-id') ?? '';
    }
    await eventually(
      async () => (await operator.send('GET', '/api/v1/calls')).body['items'] as unknown[],
      ({ length }) => length === 2,
    );
    // Gateways add up the books all the time, and end their first pass a minute after the start.
    assert.equal((await operator.send('POST', '/api/v1/credits/verifications')).status, 200);
    const link = await linkFor(operator, 'Fabian', 'finance');
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    await pages.page.goto(link);
  });
  after(() => opened.disposeAsync());

  test('a person of finance sees the month first: spend, users, days to reconcile, and whether the books add up', async () => {
    const { page } = pages;
    await page.getByRole('link', { name: /^Spend this month/ }).waitFor();
    await page.getByRole('link', { name: /the books add up/ }).waitFor();
    await page.getByRole('link', { name: 'billed-bea' }).waitFor();
    await page.getByRole('link', { name: /^Days to reconcile/ }).click();
    await page.getByRole('heading', { name: 'Reconciliation' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Playground' }).count(), 0, 'what the role may not do is not offered');
    pages.assertQuiet();
  });

  test('a group that is left out leaves the sums of the others, and the view is kept under a name', async () => {
    const { page } = pages;
    await page.goto('/usage?r=24h&by=user');
    await page.getByRole('button', { name: 'Without billed-ben' }).click();
    await page.getByRole('button', { name: 'Remove the filter not user: billed-ben' }).waitFor();
    await page.getByRole('link', { name: 'billed-ben', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'billed-bea' }).waitFor();
    await waitForLetters(page);
    await page.keyboard.press('s');
    await page.getByLabel('Name', { exact: true }).fill('without Ben');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto('/usage');
    await page.getByRole('button', { name: 'Saved' }).click();
    await page.getByRole('button', { name: 'without Ben', exact: true }).click();
    await page.waitForURL(/not\.user=billed-ben/);
    pages.assertQuiet();
  });

  test('usage is grouped by a tag, whose name a person types', async () => {
    const { page } = pages;
    await page.goto('/usage?r=24h');
    await page.getByLabel('Group by', { exact: true }).selectOption({ label: 'a tag …' });
    await page.getByLabel('Name of the tag').fill('project');
    await page.keyboard.press('Enter');
    await page.waitForURL(/by=tag%3Aproject|by=tag:project/);
    await page.getByRole('columnheader', { name: /project/i }).waitFor();
    assert.equal(await page.getByLabel('Name of the tag').count(), 0);
    pages.assertQuiet();
  });

  test('the close of the month says what is left, and a question that failed is not taken for none', async () => {
    const { page } = pages;
    await page.goto('/');
    const close = page.getByRole('region', { name: /^Close of 20/ });
    await close.getByText('no models without a price').waitFor();
    await close.getByText('no disputed calls without a decision').waitFor();
    await close.getByText('the books add up').waitFor();
    await page.route('**/api/v1/disputes?**', (route) => route.fulfill({ status: 500, body: 'away' }));
    await page.goto('/');
    await close.getByRole('alert').waitFor();
    assert.equal(await close.getByText('no disputed calls').count(), 0);
    await page.unroute('**/api/v1/disputes?**');
    pages.assertQuiet(/status of 500/);
  });

  test('the files of a user for a month are saved, and balances lead to statements', async () => {
    const { page } = pages;
    await page.goto('/');
    const files = page.getByRole('region', { name: 'Files of a month' });
    await files.getByLabel('Account').selectOption('user:billed-bea');
    const months = await files
      .getByRole('combobox', { name: /^Month/ })
      .locator('option')
      .allTextContents();
    await files.getByRole('combobox', { name: /^Month/ }).selectOption(months[0] ?? '');
    const saving = page.waitForEvent('download');
    await files.getByRole('button', { name: 'Sums as CSV' }).click();
    const csv = await readFile(await (await saving).path(), 'utf8');
    assert.match(csv, /billed-bea/);
    assert.doesNotMatch(csv, /billed-ben/);
    const stating = page.waitForEvent('download');
    await files.getByRole('button', { name: 'Statement' }).click();
    assert.match((await stating).suggestedFilename(), /\.xlsx$/);
    await page.getByRole('link', { name: 'Balances and statements' }).click();
    await page.getByRole('row').filter({ hasText: 'billed-bea' }).getByRole('link', { name: 'Book a payment' }).click();
    const dialog = page.getByRole('dialog', { name: 'Book a payment or correction' });
    await dialog.getByRole('combobox', { name: /^(Account|Whose)/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('row').filter({ hasText: 'billed-bea' }).getByRole('link', { name: 'Statement' }).click();
    await page.getByRole('heading', { name: 'Statement of billed-bea' }).waitFor();
    pages.assertQuiet();
  });

  test("the workbook of the month has the page's sum, and one that is refused or interrupted is not saved", async () => {
    const { page } = pages;
    await page.goto('/');
    const exact = await page
      .getByRole('link', { name: /^Spend this month/ })
      .locator('data')
      .getAttribute('value');
    const spent = BigInt(Math.round(Number(exact?.replaceAll(/[^0-9.]/g, '')) * 1e9));
    assert.ok(spent > 0n);
    const files = page.getByRole('region', { name: 'Files of a month' });
    await files.getByLabel('Account').selectOption('organization');
    const months = await files
      .getByRole('combobox', { name: /^Month/ })
      .locator('option')
      .allTextContents();
    await files.getByRole('combobox', { name: /^Month/ }).selectOption(months[0] ?? '');
    const saved = async () => {
      const saving = page.waitForEvent('download');
      await files.getByRole('button', { name: 'Workbook' }).click();
      const file = await saving;
      assert.match(file.suggestedFilename(), /^bill_\d{8}_\d{8}_day\.xlsx$/);
      const [bill] = await readXlsxFile(await readFile(await file.path()));
      const [head = [], ...rows] = bill?.data ?? [];
      const nanosOf = (row: readonly unknown[] | undefined): bigint => BigInt(Math.round(Number(row?.[head.indexOf('totalAmount')]) * 1e9));
      const users = new Set(rows.slice(0, -1).map((row) => row[head.indexOf('userName')]));
      return { users, total: nanosOf(rows.at(-1)), sum: rows.slice(0, -1).reduce((sum, row) => sum + nanosOf(row), 0n) };
    };
    assert.deepEqual(await saved(), { users: new Set(['billed-bea', 'billed-ben']), total: spent, sum: spent });
    await files.getByLabel('Account').selectOption('user:billed-ben');
    const { users, total } = await saved();
    assert.deepEqual([users, total > 0n && total < spent], [new Set(['billed-ben']), true]);
    await page.route('**/api/v1/usage/workbook?**', (route) =>
      route.continue({ url: `${route.request().url()}&model=` + 'x'.repeat(257) }),
    );
    await files.getByRole('button', { name: 'Workbook' }).click();
    await files.getByRole('alert').getByText('invalid_request').waitFor();
    await page.unroute('**/api/v1/usage/workbook?**');
    await page.route('**/api/v1/usage/workbook?**', (route) => route.abort());
    await files.getByRole('button', { name: 'Try again' }).click();
    await files.getByText('The console does not answer.').waitFor();
    await page.unroute('**/api/v1/usage/workbook?**');
    pages.assertQuiet(/status of 400|ERR_FAILED/);
  });

  test('a key and a pair of names are left out of chart and table, and the address says so', async () => {
    const { page } = pages;
    await page.goto('/usage?r=24h&by=key&per=hour');
    // By the legend of the chart, as by the button of the table.
    await page.getByRole('button', { name: 'Leave out billed-ben › app' }).click();
    await page.getByRole('cell', { name: 'billed-ben › app', exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual(new URL(page.url()).searchParams.getAll('not.key'), ['billed-ben/app']);
    await page.getByRole('link', { name: 'billed-bea › app' }).waitFor();
    await page.goto('/usage?r=24h&by=user&and=model');
    await page.getByRole('button', { name: 'Without billed-bea › gpt-5-mini' }).click();
    await page.getByRole('cell', { name: 'billed-bea › gpt-5-mini', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'billed-ben › gpt-5-mini', exact: true }).waitFor();
    const shared = page.url();
    await page.goto('/usage');
    await page.goto(shared);
    await page.getByRole('button', { name: 'Remove the filter without: user billed-bea, model gpt-5-mini' }).click();
    await page.getByRole('cell', { name: 'billed-bea › gpt-5-mini', exact: true }).waitFor();
    // An address written by hand that names nothing leaves nothing out.
    await page.goto('/usage?r=24h&by=user&without=nonsense');
    await page.getByRole('link', { name: 'billed-bea' }).waitFor();
    pages.assertQuiet();
  });

  test('a span of bars is chosen by a drag, and by keys, and is in the address', async () => {
    const { page } = pages;
    await page.goto('/usage?r=24h&per=hour');
    const chart = page.getByRole('img', { name: /spend per hour/i });
    const box = await chart.boundingBox();
    assert.ok(box !== null);
    const bar = (box.width - 64) / 25;
    await page.mouse.move(box.x + 64 + bar * 20.5, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 64 + bar * 22.5, box.y + 60, { steps: 4 });
    await page.getByText(/narrows to it/).waitFor();
    await page.mouse.up();
    await page.waitForURL(/from=.*&to=/);
    const hoursOf = (): number => {
      const { searchParams } = new URL(page.url());
      return (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 3_600_000;
    };
    assert.equal(hoursOf(), 3);
    await page.goBack();
    await page.waitForURL(/r=24h/);
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    for (let bars = 0; bars < 3; bars += 1) await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=.*&to=/);
    assert.equal(hoursOf(), 4);
    pages.assertQuiet();
  });

  test('a call is verified with the stored prices and refunded once', async () => {
    const { page } = pages;
    await page.goto(`/calls/${call}`);
    await page.getByRole('button', { name: 'Prices: verify' }).click();
    await page.getByText('the stored prices give the same').waitFor();
    await page.getByRole('button', { name: 'Refund …' }).click();
    await page.getByRole('button', { name: /^Refund \$0\.0\d+$/ }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const posted = (await operator.send('GET', '/api/v1/users/billed-ben/transactions')).body['items'] as {
      kind: string;
      call_id: string;
    }[];
    assert.deepEqual(
      posted.filter(({ kind }) => kind === 'refund').map(({ call_id: id }) => id),
      [call],
    );
    pages.assertQuiet();
  });

  test('the pages of finance have no barrier', async () => {
    for (const path of ['/', '/usage?r=24h&by=user&view=share', '/credits?tab=balances', `/calls/${call}`])
      await assertNoBarrier(pages, weir.consoleUrl, path);
  });
});
