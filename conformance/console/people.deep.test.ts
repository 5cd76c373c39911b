import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { eventually } from '../support/http.ts';
import { waitForLetters } from './by-keyboard.ts';
import { askApi, signInAs, untilListed } from './ask-api.ts';
import { assertNoBarrier, openSignedIn, type Pages, skipPages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

describe('pages of keys, users and teams', { skip: skipPages }, () => {
  let weir: ServedConsole;
  let pages: Pages;
  let secret = '';
  const opened = new AsyncDisposableStack();

  before(async () => {
    weir = opened.use(await serveConsole());
    pages = opened.use(await openSignedIn(weir));
    await askApi(pages.context, 'POST', '/users', { name: 'noor' });
    for (const name of ['old', 'older']) await askApi(pages.context, 'POST', '/keys', { user: 'noor', name });
    ({ secret } = (await askApi(pages.context, 'POST', '/keys', { user: 'noor', name: 'ci' })) as { secret: string });
  });
  after(() => opened.disposeAsync());

  async function callModel(key: string): Promise<number> {
    const answer = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  test('a team and a user are made with limits, and a wrong amount is refused at its field', async () => {
    const { page } = pages;
    await page.getByRole('link', { name: 'Keys & users' }).click();
    await page.getByRole('link', { name: 'Teams' }).click();
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByLabel('Name', { exact: true }).fill('atlas');
    await page.getByLabel('Spend a month').fill('500');
    await page.getByRole('button', { name: 'Make the team' }).click();
    await page.getByRole('heading', { name: 'atlas', level: 1 }).waitFor();
    await page.goto('/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Name', { exact: true }).fill('mara');
    await page.getByLabel('Team', { exact: true }).selectOption('atlas');
    await page.getByText('Limits of all its keys together').click();
    await page.getByLabel('Calls at a time').fill('many');
    await page.getByRole('button', { name: 'Make the user' }).click();
    await page
      .getByText(/limits\/concurrency|limits\.concurrency/)
      .first()
      .waitFor();
    await page.getByLabel('Calls at a time').fill('4');
    await page.getByRole('button', { name: 'Make the user' }).click();
    await page.getByRole('heading', { name: 'mara', level: 1 }).waitFor();
    await page.getByText('User · calls at a time').waitFor();
    await page.getByText('Team · spend a month').waitFor();
    await page.getByRole('link', { name: 'atlas' }).click();
    await page.waitForURL(/\/teams\/atlas$/);
    await page.getByRole('link', { name: 'mara' }).waitFor();
    pages.assertQuiet(/400/);
  });

  test('the page of a user says which limit binds and where it stands', async () => {
    const { page } = pages;
    assert.equal(await callModel(secret), 200);
    await page.goto('/users/noor');
    await page.getByText('No limit holds here').waitFor();
    await page.getByRole('button', { name: 'Limits', exact: true }).click();
    await page.getByLabel('Spend a day').fill('0.000001');
    await page.getByLabel('Spend a month').fill('100');
    await page.getByRole('button', { name: 'Set the limits' }).click();
    const first = page.getByRole('list', { name: 'Standing of limits' }).getByRole('listitem').first();
    await first.getByText('User · spend a day').waitFor();
    await first.getByText('used up').waitFor();
    await page.getByText('$100.00').waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page
      .getByText('spend_per_month_usd')
      .or(page.getByText(/spendPerMonth/))
      .first()
      .waitFor();
  });

  test('somebody else changes the user meanwhile: the page says who and what, and nothing is lost', async () => {
    const { page } = pages;
    await page.goto('/users/noor');
    await page.getByRole('button', { name: 'Limits', exact: true }).click();
    await page.getByLabel('Requests a minute').fill('77');
    await askApi(pages.context, 'PATCH', '/users/noor', { limits: { tokens_per_minute: 4242 } }, { 'if-match': '*' });
    await page.getByRole('button', { name: 'Set the limits' }).click();
    await page.getByText('Somebody else has changed this').waitFor();
    await page.getByText('4242').first().waitFor();
    await page.getByRole('button', { name: 'Set the limits all the same' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText(/4\s242 tokens a minute/).waitFor();
    await page.getByText('77 requests a minute').waitFor();
    pages.assertQuiet(/412/);
  });

  test('keys that nobody uses are chosen by keyboard and disabled together, and the gateway refuses them', async () => {
    const { page } = pages;
    await page.goto('/users/noor');
    await askApi(pages.context, 'PATCH', '/users/noor', { limits: { spend_per_day_usd: null } }, { 'if-match': '*' });
    await page.goto('/keys?user=noor');
    await page.getByRole('cell', { name: 'noor/old', exact: true }).waitFor();
    await waitForLetters(page);
    for (const key of ['j', 'x', 'j', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText('2 keys are chosen').waitFor();
    await page.getByRole('group', { name: 'Chosen keys' }).getByRole('button', { name: 'Disable' }).click();
    await page.getByText(/weir keys disable noor\/ci noor\/old/).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Disable them' }).click();
    await page.getByText('2 of 2 keys are changed').waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'disabled' }).count(), 2);
    assert.equal(await page.getByRole('row').filter({ hasText: 'active' }).count(), 1, 'the key that was not chosen');
    let status = 0;
    const deadline = Date.now() + 15_000;
    while (status !== 401 && Date.now() < deadline) status = await callModel(secret);
    assert.equal(status, 401, 'running gateways follow within seconds');
    await page.getByRole('link', { name: 'Unused for 90 days' }).click();
    await page.waitForURL(/unused=90/);
    await page.getByText('No key fits.').waitFor();
  });

  for (const path of ['/users', '/users/noor', '/users/noor?tab=keys', '/users/noor?tab=history', '/teams', '/teams/atlas', '/keys'])
    test(`${path} has no barrier`, () => assertNoBarrier(pages, weir.consoleUrl, path));

  test('each of more users than one question may name has its spending', async () => {
    const { page, context } = pages;
    const names = Array.from({ length: 52 }, (_, index) => `many-${String(index + 1).padStart(2, '0')}`);
    for (const user of names) {
      const { secret: key } = (await askApi(context, 'POST', '/keys', { user, name: 'ci' })) as { secret: string };
      assert.equal(await callModel(key), 200);
    }
    await untilListed(context);
    await page.goto('/users');
    await page.getByRole('row', { name: /many-01.*\$0\.0/ }).waitFor();
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, 100_000);
    await page.getByRole('row', { name: /many-52.*\$0\.0/ }).waitFor();
    pages.assertQuiet();
  });

  test('a posting of calls that were booked together says that it has others too', async () => {
    const { page, context } = pages;
    type Money = { readonly nano_usd: string };
    type Detail = { readonly receipt: { readonly total: Money }; readonly transactions: readonly { readonly amount: Money }[] };
    const isTogether = async (id: string): Promise<boolean> => {
      const { receipt, transactions } = (await askApi(context, 'GET', `/calls/${id}`)) as unknown as Detail;
      return transactions.some(({ amount }) => BigInt(amount.nano_usd) < -BigInt(receipt.total.nano_usd));
    };
    let shared: string | undefined;
    for (let times = 0; times < 5 && shared === undefined; times += 1) {
      const made = await askApi(context, 'POST', '/keys', { user: 'olga', name: `together-${times}` });
      await Promise.all(Array.from({ length: 8 }, () => callModel(String(made['secret']))));
      const list = async () => {
        // A session that asks without a pause is refused.
        await setTimeout(250);
        return await askApi(context, 'GET', `/calls?key_id=${String(made['id'])}&limit=8`);
      };
      const { items } = await eventually(list, (page) => (page['items'] as readonly unknown[]).length === 8, 60_000);
      for (const { id } of items as readonly { readonly id: string }[]) if (shared === undefined && (await isTogether(id))) shared = id;
    }
    assert.ok(shared !== undefined, 'calls that end together are booked together');
    await page.goto(`/calls/${shared}`);
    await page.getByText('with other calls').waitFor();
    pages.assertQuiet();
  });

  test('an owner sees the own user, no team, no action of operators, and of others nothing', async () => {
    const { page } = pages;
    await signInAs(pages, weir.consoleUrl, { name: 'noor@example.com', role: 'owner', users: ['noor'] });
    await page.goto('/users');
    await page.getByRole('link', { name: 'noor', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Teams' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'mara' }).count(), 0);
    await page.goto('/users/noor');
    await page.getByRole('heading', { name: 'noor', level: 1 }).waitFor();
    for (const name of ['Limits', 'Team', 'Disable its keys'])
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    pages.assertQuiet();
    await page.goto('/users/mara');
    await page.getByText('not_found').waitFor();
  });
});
