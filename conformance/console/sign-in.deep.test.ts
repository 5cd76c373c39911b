import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type ConsoleClient, signInByLink } from '../admin/console-client.ts';
import { assertNoBarrier, openPages, type Pages, skipPages } from './open-pages.ts';
import { findChromium } from './find-chromium.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

describe('ways in and first steps', { skip: skipPages }, () => {
  let weir: ServedConsole;
  let operator: ConsoleClient;
  let secret = '';
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole({ config: 'console: { signIn: [apiKey, billingToken] }\n' }));
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
  });
  after(() => opened.disposeAsync());

  const visit = async (): Promise<Pages> => opened.use(await openPages(findChromium() ?? '', weir.consoleUrl));

  test('a first call ticks the first step alone, and its key is nothing that needs attention', async () => {
    const pages = await visit();
    const { page } = pages;
    const [name = '', value = ''] = operator.cookie().split('=');
    await pages.context.addCookies([{ name, value, url: weir.consoleUrl, sameSite: 'Strict', httpOnly: true }]);
    await page.goto('/');
    await page.getByText('First steps: 0 of 6 done').waitFor();
    await page.getByRole('link', { name: 'Make a first call' }).click();
    await page.getByPlaceholder('Write a message').fill('Hello');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('link', { name: / receipt$/ }).waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('First steps: 1 of 6 done').waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /playground-/);
    await page.getByRole('link', { name: 'Make a key for an application or a colleague' }).click();
    await page.getByRole('combobox', { name: 'User' }).fill('ann');
    await page.getByLabel('Name of the key').fill('laptop');
    await page.getByLabel('Spend a month').fill('1');
    await page.getByRole('button', { name: 'Make the key' }).click();
    secret = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
    const [, body = ''] = /-d '(.*)'/.exec((await page.getByLabel('A first call', { exact: true }).last().textContent()) ?? '') ?? [];
    const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
    });
    assert.equal(answer.status, 200, `the limit leaves room for the call that the page shows: ${await answer.text()}`);
    pages.assertQuiet();
  });

  test('the owner of a key signs in with it, and sees what is its own alone', async () => {
    const pages = await visit();
    const { page } = pages;
    await page.goto('/calls');
    await page.getByLabel('API key or billing token').fill('sk-weir-wrong');
    await page.getByRole('button', { name: 'Sign in with it' }).click();
    await page.getByText('wrong, used, disabled or expired', { exact: false }).waitFor();
    await page.getByLabel('API key or billing token').fill(` ${secret} `);
    await page.getByRole('button', { name: 'Sign in with it' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.getByText('ann/laptop').first().waitFor();
    assert.doesNotMatch(await page.locator('body').innerText(), /admin\//);
    pages.assertQuiet(/status of 401/);
  });

  test('the owner of a billing token signs in with it', async () => {
    const token = await operator.send('POST', '/api/v1/billing_tokens', { name: 'sheet', user: 'ann' });
    assert.equal(token.status, 201, token.text);
    const pages = await visit();
    await pages.page.goto('/');
    await pages.page.getByLabel('API key or billing token').fill(String(token.body['secret']));
    await pages.page.getByRole('button', { name: 'Sign in with it' }).click();
    await pages.page.getByRole('heading', { name: 'Recent calls' }).waitFor();
    await pages.page.waitForLoadState('networkidle');
    pages.assertQuiet(/status of 401/);
  });

  test('the page of the sign-in has no barrier', async () => {
    const pages = await visit();
    await pages.page.goto('/sign-in');
    await pages.page.getByLabel('API key or billing token').waitFor();
    await assertNoBarrier(pages, weir.consoleUrl, '/sign-in');
  });
});
