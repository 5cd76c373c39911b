import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type ConsoleClient, signInByLink } from '../admin/console-client.ts';
import { eventually } from '../support/http.ts';
import { goTo, tabTo, waitForLetters } from './by-keyboard.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();
const skip = chromiumPath === undefined ? 'there is no Chromium on this machine' : false;
/** From a started Weir to a first call, its receipt, and a second key with a limit, without a page of documentation. */
const firstRunMsMax = 180_000;

describe('journeys through the console', { skip }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole({ config: 'console: { ownersMakeKeys: true }\n' }));
    pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
  });
  after(() => opened.disposeAsync());

  test('journey 1: from the link of the start to a call, its receipt and a key with a limit, by keyboard alone, in under three minutes', async () => {
    const { page } = pages;
    const startedMs = Date.now();
    await page.goto(weir.consoleLink);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await goTo(page, 'p', 'Playground');
    await page.getByLabel('Model of lane A').and(page.locator('input:not([value=""])')).waitFor();
    await tabTo(page, /^Message to all lanes$/);
    await page.keyboard.type('Hello from the first minute');
    await page.getByText(/^about \$/).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Lane A' }).getByText('You wrote: “Hello from the first minute”', { exact: false }).waitFor();
    await page.getByRole('link', { name: / receipt$/ }).waitFor();
    await tabTo(page, / receipt$/);
    await page.keyboard.press('Enter');
    await page.getByText('recomputed here: the same').waitFor();

    await goTo(page, 'k', 'Keys');
    await waitForLetters(page);
    await page.keyboard.press('n');
    await page.getByLabel('Name of the key').waitFor();
    await page.getByRole('combobox', { name: 'User' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('journey');
    await tabTo(page, /^Name of the key/);
    await page.keyboard.type('laptop');
    await tabTo(page, /^Spend a month/);
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    const secret = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
    const tookMs = Date.now() - startedMs;
    await tabTo(page, /I have stored it/);
    await page.keyboard.press('Enter');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'journey/laptop' }) });
    await row.waitFor();
    assert.match(await row.innerText(), /\$5\b/);
    const used = await fetch(`${weir.gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    assert.equal(used.status, 200, 'the second key works');
    assert.ok(tookMs < firstRunMsMax, `it took ${tookMs} ms`);
    pages.assertQuiet();
  });

  describe('journey 6: an owner', () => {
    let operator: ConsoleClient;
    let owned: Pages;
    const secrets: Record<string, string> = {};
    const others = { key: '', call: '' };

    before(async () => {
      const link = await pages.page.evaluate<string>(`fetch('/api/v1/session/password', { method: 'PUT',
        headers: { 'content-type': 'application/json' }, body: JSON.stringify({ password: 'a long enough passphrase' }) })
        .then(() => fetch('/api/v1/people', { method: 'POST', headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'second operator', role: 'operator' }) }))
        .then((answer) => answer.json())
        .then(({ id }) => fetch('/api/v1/people/' + id + '/link', { method: 'POST' }))
        .then((answer) => answer.json()).then(({ url }) => url)`);
      operator = await signInByLink(weir.consoleUrl, link);
      await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
      for (const user of ['owner-olga', 'hidden-henry']) {
        const limits = { spend_per_month_usd: '5' };
        await operator.send('POST', '/api/v1/users', { name: user, ...(user === 'owner-olga' && { limits }) });
        const key = await operator.send('POST', '/api/v1/keys', { user, name: 'app', limits });
        assert.equal(key.status, 201, key.text);
        secrets[user] = String(key.body['secret']);
        if (user === 'hidden-henry') others.key = String(key.body['id']);
        others.call = await call(user, 'gpt-5-mini');
      }
      await call('owner-olga', 'no-such-model');
      await eventually(
        () => operator.send('GET', `/api/v1/calls/${others.call}`),
        ({ status }) => status === 200,
      );
      const person = await operator.send('POST', '/api/v1/people', { name: 'Olga', role: 'owner', users: ['owner-olga'] });
      assert.equal(person.status, 201, person.text);
      const ownerLink = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
      owned = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
      await owned.page.setViewportSize({ width: 360, height: 740 });
      await owned.page.goto(String(ownerLink.body['url']));
      await owned.page.getByRole('heading', { name: 'Overview' }).waitFor();
    });

    async function call(user: string, model: string): Promise<string> {
      const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secrets[user] ?? ''}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
      });
      await answer.arrayBuffer();
      return answer.headers.get('x-weir-request-id') ?? '';
    }

    test('sees own spend, limits, keys, calls and refusals, and nothing of anybody else, at 360 px', async () => {
      const { page } = owned;
      await page.getByRole('region', { name: 'Limits of owner-olga' }).getByText(/left$/).first().waitFor();
      await page.getByRole('group', { name: 'Your keys' }).getByRole('link', { name: 'owner-olga/app' }).waitFor();
      await page.getByRole('group', { name: 'Recent calls' }).getByRole('link').first().waitFor();
      await page.getByRole('group', { name: 'Refused lately' }).getByText('404').waitFor();
      for (const path of ['/', '/usage?r=24h', '/calls?r=24h', '/calls?tab=refused', '/keys', '/users', '/playground']) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        const text = await page.evaluate<string>('document.documentElement.textContent');
        assert.doesNotMatch(text, /henry|simulated-(?!reply)\w+ +healthy|Upstreams|Audit|permission/, path);
        assert.deepEqual(await findViolations(page), [], path);
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        assert.ok(overflow <= 0, `${path} is ${overflow} px too wide`);
      }
      owned.assertQuiet();
    });

    test('finds nothing behind the addresses of others', async () => {
      const { page } = owned;
      for (const path of ['/users/hidden-henry', `/keys/${others.key}`, `/calls/${others.call}`]) {
        await page.goto(path);
        await page.getByText('not_found', { exact: false }).first().waitFor();
      }
      owned.assertQuiet(/status of 404|^ApiProblem: There is no/);
    });

    test('makes a key of an own user, and calls with it and in the playground', async () => {
      const { page } = owned;
      await page.goto('/keys');
      await page.getByRole('button', { name: 'New key' }).click();
      const user = page.getByRole('combobox', { name: 'User' });
      await user.waitFor();
      assert.deepEqual(await user.locator('option').allTextContents(), ['owner-olga']);
      await page.getByLabel('Name of the key').fill('second');
      assert.equal(await page.getByLabel('Spend a month').count(), 0, 'who sets no limits is asked for none');
      await page.getByRole('button', { name: 'Make the key' }).click();
      secrets['owner-olga'] = (await page.getByLabel('Secret', { exact: true }).textContent()) ?? '';
      await page.getByRole('button', { name: 'I have stored it' }).click();
      assert.notEqual(await call('owner-olga', 'gpt-5-mini'), '');
      await page.goto('/playground?lane=messages:claude-haiku-4-5');
      await page.getByLabel('Message to all lanes').fill('Hello');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('link', { name: / receipt$/ }).click();
      await page.getByText('recomputed here: the same').waitFor();
      await page.getByRole('link', { name: 'Open in the playground' }).click();
      await page.getByRole('heading', { name: 'Playground' }).waitFor();
      assert.deepEqual(
        [new URL(page.url()).searchParams.get('lane'), new URL(page.url()).searchParams.get('user')],
        ['messages:claude-haiku-4-5', 'owner-olga'],
      );
      owned.assertQuiet();
    });
  });
});
