import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { askApi } from './ask-api.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();

describe('the pages of the console', { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
  });
  after(() => opened.disposeAsync());

  async function callModel(model: string, key = weir.apiKey): Promise<{ readonly status: number; readonly id: string }> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, logit_bias: { 5: 1 }, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.arrayBuffer();
    return { status: answer.status, id: answer.headers.get('x-weir-request-id') ?? '' };
  }

  test('a browser without a session gets the sign-in page, and a link signs in once', async () => {
    const { page } = pages;
    await page.goto('/calls');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(weir.consoleLink);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.doesNotMatch(page.url(), /#in=/, 'the code leaves the address');
    pages.assertQuiet();
  });

  test('the first steps are facts: a call and a password are done without a click, and the list can be hidden', async () => {
    const { page } = pages;
    await page.goto('/');
    const steps = page.getByRole('region', { name: /^First steps/ });
    await steps.getByRole('heading', { name: 'First steps: 0 of 6 done' }).waitFor();
    assert.equal((await callModel('claude-sonnet-4-5')).status, 200);
    await askApi(pages.context, 'PUT', '/session/password', { password: 'a long enough passphrase' });
    await eventually(
      async () => {
        await page.goto('/');
        return await steps.getByRole('heading').textContent();
      },
      (title) => title === 'First steps: 2 of 6 done',
    );
    await steps.getByRole('link', { name: 'Make a key for an application or a colleague' }).click();
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto('/');
    await steps.getByRole('button', { name: 'Hide' }).click();
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
    assert.equal(await steps.count(), 0);
    await page.goto('/settings/you');
    await page.getByLabel('The overview shows the first steps').check();
    await page.goto('/');
    await steps.waitFor();
    pages.assertQuiet();
  });

  test('a problem offers what can be done about it, with its command and curl', async () => {
    const { page } = pages;
    const shown = { code: 'upstream_down', subject: 'upstream:simulated-anthropic', period: '', severity: 'critical' } as const;
    await page.route('**/api/v1/overview', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as Record<string, unknown>;
      const words = { summary: 'Upstream simulated-anthropic is down.', action: 'Examine it.', since: new Date().toISOString() };
      await route.fulfill({ response: answer, json: { ...body, attention: [{ ...shown, ...words }] } });
    });
    await page.goto('/');
    await page.getByRole('button', { name: 'Check it now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Check simulated-anthropic' });
    await dialog.getByText('The same without this page').click();
    await dialog.getByText('weir upstreams check simulated-anthropic --no-calls').waitFor();
    assert.match((await dialog.getByLabel('curl', { exact: true }).textContent()) ?? '', /upstreams\/simulated-anthropic\/checks/);
    await dialog.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('✓ Healthy').waitFor();
    await page.unroute('**/api/v1/overview');
    pages.assertQuiet();
  });

  test('a key made here calls, and its call is explained to the cent by the page itself', async () => {
    const { page } = pages;
    await page.getByRole('link', { name: 'Keys & users' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('combobox', { name: 'User' }).fill('ann');
    await page.getByLabel('Name of the key').fill('pages');
    await page.getByLabel('Spend a month').fill('12.50');
    await page.getByRole('button', { name: 'Make the key' }).click();
    const secret = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
    await page.keyboard.press('Escape');
    assert.ok(await page.getByRole('button', { name: 'I have stored it' }).isVisible(), 'the secret is not lost by Escape');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    assert.ok(!(await page.content()).includes(secret), 'the secret leaves the page with its dialog');
    const { status, id } = await callModel('claude-sonnet-4-5', secret);
    assert.equal(status, 200);

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(id);
    await page.getByRole('option', { name: id }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('recomputed here: the same').waitFor();
    await page.getByText('logit_bias').waitFor();
    pages.assertQuiet();
  });

  test('a page opened by its address shows what it showed, and back goes back', async () => {
    const { page } = pages;
    await callModel('gpt-5-mini');
    const rows = page.getByRole('row').filter({ hasText: 'finished' });
    // A call is in the list a moment after its end.
    await eventually(
      async () => {
        await page.goto('/calls?r=24h&model=gpt-5-mini');
        await page.getByRole('button', { name: 'Remove the filter model: gpt-5-mini' }).waitFor();
        await page.waitForLoadState('networkidle');
        return await rows.count();
      },
      (count) => count > 0,
    );
    assert.equal(await page.getByRole('cell', { name: 'claude-sonnet-4-5' }).count(), 0);
    await rows.first().click();
    await page.getByRole('complementary', { name: 'Call' }).waitFor();
    assert.match(page.url(), /[?&]call=req_/);
    const shared = page.url();
    await page.goBack();
    await page.getByRole('complementary', { name: 'Call' }).waitFor({ state: 'detached' });
    await page.goto(shared);
    await page.getByText('recomputed here: the same').waitFor();
    pages.assertQuiet();
  });

  test('every figure of the overview leads to the calls behind it', async () => {
    const { page } = pages;
    for (const [name, address] of [
      [/^Spend today/, /\/usage\?r=today$/],
      [/^Failed/, /\/calls\?r=24h&end=failed$/],
      [/^ann$/, /\/users\/ann$/],
      [/^simulated-anthropic$/, /\/upstreams\/simulated-anthropic$/],
    ] as const) {
      await page.goto('/');
      await page.getByRole('link', { name }).first().click();
      await page.waitForURL(address);
    }
    pages.assertQuiet();
  });

  test('what a group used is the sum of its calls', async () => {
    const { page } = pages;
    await page.goto('/usage?r=24h&by=user');
    await page.getByRole('link', { name: 'ann', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the filter user: ann' }).waitFor();
    assert.match(page.url(), /\/calls\?.*user=ann/);
    pages.assertQuiet();
  });

  for (const path of ['/', '/usage?r=24h', '/calls?r=24h', '/calls?tab=refused', '/keys', '/no-such-page'])
    test(`${path} has no barrier`, () => assertNoBarrier(pages, weir.consoleUrl, path));
});
