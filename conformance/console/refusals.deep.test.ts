import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { signInByLink } from '../admin/console-client.ts';
import { eventually } from '../support/http.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages, skipPages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';
import { linkFor } from './sign-in-as.ts';

describe('a request that was refused', { skip: skipPages }, () => {
  let weir: ServedConsole;
  let developer: Pages;
  let id = '';
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    const operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    const key = await operator.send('POST', '/api/v1/keys', { user: 'dora', name: 'app', limits: { spend_per_day_usd: '0.01' } });
    const refused = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key.body['secret'])}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-sonnet-4-5', max_completion_tokens: 60_000, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(refused.status, 429, await refused.text());
    id = refused.headers.get('x-weir-request-id') ?? '';
    await eventually(
      () => operator.send('GET', `/api/v1/refusals?request_id=${id}`),
      ({ body }) => (body['items'] as readonly unknown[]).length === 1,
    );
    developer = opened.use(await openPages(findChromium() ?? '', weir.consoleUrl));
    await developer.page.goto(await linkFor(operator, 'Dora', 'owner', ['dora']));
    await developer.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(() => opened.disposeAsync());

  test('is found by the id of its error in the search, and its page says why and what to do', async () => {
    const { page } = developer;
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox', { name: 'Page, name or id' }).fill(id);
    await page.getByRole('option', { name: 'refused: 429 spend_limit_reached', exact: false }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Spend limit reached for this API key: $0.01 a day', { exact: false }).waitFor();
    await page.getByText('See what is left on the pages of').waitFor();
    await page.getByRole('link', { name: 'the key' }).click();
    await page.getByRole('heading', { name: /dora.*app/ }).waitFor();
    developer.assertQuiet();
  });

  test('has its page behind its row, and at the address of a call with its id', async () => {
    const { page } = developer;
    await page.goto('/');
    await page.getByRole('group', { name: 'Refused lately' }).getByRole('link').first().click();
    await page.waitForURL(`**/calls/${id}?tab=refused`);
    await page.getByText('All that were refused for this reason').click();
    await page.getByRole('group', { name: 'Refused requests, newest first' }).getByRole('link').first().click();
    await page.waitForURL(`**/calls/${id}?tab=refused`);
    await page.getByText(`weir refusals --request ${id}`).waitFor();
    await page.goto(`/calls/${id}`);
    await page.getByText('What to do').waitFor();
    developer.assertQuiet(/status of 404/);
  });

  test('an id that nothing has says so, and where refused requests are', async () => {
    const { page } = developer;
    await page.goto('/calls/req_nothing');
    await page.getByText('kept for 7 days', { exact: false }).waitFor();
    developer.assertQuiet(/status of 404|^ApiProblem: There is no/);
  });

  test('its page has no barrier', async () => {
    await developer.page.goto('/');
    await assertNoBarrier(developer, weir.consoleUrl, `/calls/${id}?tab=refused`);
  });
});
