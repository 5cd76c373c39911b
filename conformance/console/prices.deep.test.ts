import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type ConsoleClient, signInByLink } from '../admin/console-client.ts';
import { eventually } from '../support/http.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';
import { linkFor } from './sign-in-as.ts';

const chromiumPath = findChromium();

/** An exact amount of the page, such as `−$0.001224`, in nano-USD. */
function nanosOf(text: string): bigint {
  const [, sign, whole = '', fraction = ''] =
    /^(\u2212?)\$(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? assert.fail(`"${text}" is no exact amount`);
  return BigInt(`${sign === '' ? '' : '-'}${whole}${fraction.padEnd(9, '0')}`);
}

const today = (): string => new Date().toISOString().slice(0, 10);

describe('the prices of the console', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  let viewer: Pages;
  let operator: ConsoleClient;
  let secret = '';
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    secret = String((await operator.send('POST', '/api/v1/keys', { user: 'priced-paula', name: 'ci' })).body['secret']);
    const link = await linkFor(operator, 'Vera', 'viewer');
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    viewer = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
    const [name = '', value = ''] = operator.cookie().split('=');
    await pages.context.addCookies([{ name, value, url: weir.consoleUrl }]);
    await viewer.page.goto(link);
    await viewer.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(() => opened.disposeAsync());

  /** Makes a call and returns its receipt. */
  async function callOnce(): Promise<{ readonly id: string; readonly version: string; readonly nanoUsd: string }> {
    const response = await fetch(`${weir.gatewayUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-haiku-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(response.status, 200, await response.text());
    const id = response.headers.get('x-weir-request-id') ?? '';
    const receipt = await eventually(
      () => operator.send('GET', `/api/v1/calls/${id}/receipt`),
      ({ status }) => status === 200,
    );
    const { rows, total } = receipt.body as unknown as { rows: { price: { version: string } }[]; total: { nano_usd: string } };
    return { id, version: rows[0]?.price.version ?? '', nanoUsd: total.nano_usd };
  }

  test('journey 8: a draft goes from a mistake at its line to a published book, which a running gateway charges', async () => {
    const { page } = pages;
    const first = await callOnce();
    await page.goto('/prices?vendor=anthropic&model=claude-haiku-4-5');
    await page.getByRole('cell', { name: 'anthropic/claude-haiku-4-5' }).first().click();
    await page.getByRole('link', { name: 'Change it in a draft' }).click();
    await page.getByLabel('Name', { exact: true }).fill('December list');
    await page.getByRole('button', { name: 'Make the draft' }).click();
    await page.getByRole('heading', { name: 'Draft “December list”' }).waitFor();

    const price = page.getByLabel('anthropic/claude-haiku-4-5, input / 1\u00a0M', { exact: true });
    await price.fill('cheap');
    await page.getByRole('button', { name: 'Check and keep' }).click();
    await page
      .getByRole('button', { name: /^Line \d+$/ })
      .first()
      .click();
    const selected = await page.evaluate<string>(
      '(({ activeElement: area }) => area.value?.slice(area.selectionStart, area.selectionEnd) ?? "")(document)',
    );
    assert.match(selected, /"input": "cheap"/);
    await page.getByRole('button', { name: 'Table' }).click();
    await price.fill('2.5');
    await page.getByRole('button', { name: 'Check and keep' }).click();
    await page.getByText('The draft is kept').waitFor();

    await page.getByRole('link', { name: '2 Difference' }).click();
    const row = page.getByRole('row').filter({ hasText: 'input / 1' }).first();
    await row.getByText('2.5').waitFor();
    await row.getByText('▲ +150.0').waitFor();

    await page.getByRole('link', { name: '3 Who pays what' }).click();
    await page.getByRole('button', { name: 'Price these calls' }).click();
    const total = page.getByRole('row').filter({ hasText: 'Total' });
    await total.waitFor();
    const shown = await page.evaluate<readonly string[]>('[...document.querySelectorAll("tfoot data")].map(({ value }) => value)');
    assert.equal(shown.length, 4, 'booked, in force, draft, difference');
    const nanos = shown.map(nanosOf);
    const [booked = 0n, inForce = 0n, draft = 0n, effect = 0n] = nanos;
    assert.equal(booked, BigInt(first.nanoUsd));
    assert.equal(draft - inForce, effect);
    assert.match(page.url(), /op=op_/);
    await page.reload();
    await total.waitFor();

    await page.getByRole('link', { name: '4 Publish' }).click();
    await page.getByLabel('Note').fill('contract 118');
    await page.getByRole('button', { name: 'Publish book 1' }).click();
    await page.getByRole('heading', { name: 'Price book store-1' }).waitFor();
    const charged = await eventually(callOnce, ({ version }) => version !== first.version);
    assert.ok(BigInt(charged.nanoUsd) > BigInt(first.nanoUsd));

    await page.goto(`/calls/${charged.id}`);
    await page.getByText('recomputed here: the same').waitFor();
    // The browser writes a line for each refused request: the mistake was meant.
    pages.assertQuiet(/400/);
  });

  test('journey 8: of two publishers the second sees the first, and looks before it publishes', async () => {
    const { page } = pages;
    const [{ id } = { id: '' }] = (await operator.send('GET', '/api/v1/price_drafts')).body['items'] as { id: string }[];
    await page.goto(`/prices/drafts/${id}?step=4`);
    await page.getByRole('button', { name: 'Publish book 2' }).waitFor();
    const other = await operator.send(
      'POST',
      `/api/v1/price_drafts/${id}/publish`,
      { from: today(), note: 'quicker' },
      { 'if-match': '"1"' },
    );
    assert.equal(other.status, 201, other.text);
    await page.getByRole('button', { name: 'Publish book 2' }).click();
    await page.getByText('Book store-2 was published meanwhile by person:operator').waitFor();
    await page.getByText(': quicker').waitFor();
    await page.getByRole('button', { name: 'I have seen it' }).click();
    await page.getByRole('button', { name: 'Publish book 3' }).click();
    await page.getByRole('heading', { name: 'Price book store-3' }).waitFor();
    pages.assertQuiet(/412/);
  });

  test('a change of somebody else is not overwritten unseen', async () => {
    const { page } = pages;
    const [{ id } = { id: '' }] = (await operator.send('GET', '/api/v1/price_drafts')).body['items'] as { id: string }[];
    await page.goto(`/prices/drafts/${id}?step=1`);
    const price = page.getByLabel('anthropic/claude-haiku-4-5, input / 1\u00a0M', { exact: true });
    await price.fill('9');
    assert.equal((await operator.send('PATCH', `/api/v1/price_drafts/${id}`, { note: 'mine' }, { 'if-match': '*' })).status, 200);
    await page.getByRole('button', { name: 'Check and keep' }).click();
    await page.getByText('Somebody else changed the draft meanwhile').waitFor();
    assert.equal(await price.inputValue(), '9', 'what was typed stays');
    pages.assertQuiet(/412/);
  });

  test('the calculator shows each line, exact to the nano-USD', async () => {
    const { page } = pages;
    await page.goto('/prices?tab=calculator&vendor=anthropic&model=claude-haiku-4-5');
    await page.getByLabel('input tokens').fill('1');
    await page.getByLabel('output tokens').fill('0');
    await page.getByRole('cell', { name: '$0.0000025', exact: true }).waitFor();
    await page.getByRole('cell', { name: '$0.000002500', exact: true }).waitFor();
    pages.assertQuiet();
  });

  test('a viewer reads prices, and is offered no draft', async () => {
    const { page } = viewer;
    await page.goto('/prices?tab=drafts');
    await page.getByRole('link', { name: 'Published books' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Drafts' }).count(), 0);
    await page.getByRole('link', { name: 'store-3' }).first().click();
    await page.getByRole('heading', { name: 'Price book store-3' }).waitFor();
    viewer.assertQuiet();
  });

  test('no page of prices has a barrier', async () => {
    const [{ id } = { id: '' }] = (await operator.send('GET', '/api/v1/price_drafts')).body['items'] as { id: string }[];
    const { version } = (await operator.send('GET', '/api/v1/prices')).body;
    for (const path of [
      '/prices?model=claude-haiku-4-5&open=anthropic%2Fclaude-haiku-4-5%402025-10-15',
      '/prices?tab=books',
      '/prices?tab=drafts&new=1',
      '/prices?tab=calculator&vendor=openai&model=gpt-5-mini',
      '/prices/books/1',
      `/prices/versions/${encodeURIComponent(String(version))}`,
      ...['1', '1&as=text', '2', '3', '4', 'call'].map((step) => `/prices/drafts/${id}?step=${step}`),
    ])
      await assertNoBarrier(pages, weir.consoleUrl, path);
    pages.assertQuiet();
  });
});
