import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import { entry } from '../../src/billing/journal/testing/call-kit.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { eventually } from '../support/http.ts';
import { waitForLetters } from './by-keyboard.ts';
import { askApi } from './ask-api.ts';
import { assertNoBarrier, skipPages } from './open-pages.ts';
import { openStore } from './serve-console.ts';
import { serveSuite } from './serve-suite.ts';

const dayMs = 86_400_000;
const cents = (count: number) => ({ amountNanoUsd: BigInt(count) * 10_000_000n, lines: [] });

describe('figures of the overview, of usage, of calls and of keys', { skip: skipPages }, () => {
  const suite = serveSuite(async ({ weir, pages }) => {
    const store = await openStore(weir);
    const now = Date.now();
    const made = (id: string, ageMs: number, changes: object) => ({
      ...entry(`req_0figures${id}`),
      acceptedAtMs: now - ageMs,
      userName: 'fay',
      upstream: 'simulated-openai',
      ...changes,
    });
    await store.appendEntries([
      made('1', 60_000, { requestedModel: 'model-a', charge: cents(30), estimated: true }),
      made('2', 120_000, { requestedModel: 'model-b', charge: cents(20) }),
      made('3', 180_000, { requestedModel: 'model-b', charge: cents(20) }),
      made('4', 180_000 + dayMs, { requestedModel: 'model-b', charge: cents(7) }),
      made('5', 40 * dayMs, { requestedModel: 'model-c', charge: cents(7) }),
    ]);
    await store.close();
    await eventually(
      () => askApi(pages.context, 'GET', '/overview'),
      ({ pending_calls: pending, today, yesterday }) =>
        pending === 0 && (today as { calls: number }).calls + (yesterday as { calls: number }).calls > 0,
      60_000,
    );
  });

  test('the last day is shown by spend, calls or tokens, beside the day before, and the address says which', async () => {
    const { page, assertQuiet } = suite.pages;
    await page.goto('/');
    const panel = page.getByRole('region', { name: 'Spend by model, last 24 hours' });
    await panel.getByRole('img', { name: /\$0\.70 in all, \$0\.07 the day before; most by model-b/ }).waitFor();
    await panel.getByText('┄ the period before').waitFor();
    await panel.getByLabel('Measure').selectOption('calls');
    await page.getByRole('img', { name: /^Calls by model, last 24 hours\. 3 in all, 1 the day before/ }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('by'), 'calls');
    await page.reload();
    await page.getByRole('img', { name: /^Calls by model/ }).waitFor();
    assertQuiet();
  });

  test('the overview says the state of upstreams, what is held, what is estimated, and when the books were verified', async () => {
    const { page, assertQuiet } = suite.pages;
    await page.goto('/');
    const books = page.getByRole('region', { name: 'Books' });
    await books.getByText('33.3 % of the newest calls').waitFor();
    await books.getByRole('link', { name: '$0', exact: true }).waitFor();
    await askApi(suite.pages.context, 'POST', '/credits/verifications');
    await eventually(
      async () => {
        await page.goto('/');
        return await books.innerText();
      },
      (text) => /now|\d+ (second|minute)s? ago/.test(text),
    );
    await fetch(`${suite.weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${suite.weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await eventually(
      async () => {
        await page.goto('/');
        const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'simulated-openai' }) });
        return await row.innerText();
      },
      (text) => text.includes('healthy'),
    );
    assertQuiet();
  });

  test('letters choose days, weeks and months, and a number hides a group of the chart until it is pressed again', async () => {
    const { page, assertQuiet } = suite.pages;
    await page.goto('/usage?r=7d');
    await page.getByRole('button', { name: 'Leave out model-b' }).waitFor();
    await waitForLetters(page);
    await page.keyboard.press('1');
    await page.getByText('(hidden)').waitFor();
    assert.deepEqual(new URL(page.url()).searchParams.getAll('hide'), ['model-b']);
    await page.getByRole('cell', { name: 'model-b', exact: true }).waitFor();
    await page.keyboard.press('1');
    await page.getByText('(hidden)').waitFor({ state: 'detached' });
    for (const [letter, per] of [
      ['w', 'week'],
      ['m', 'month'],
      ['d', 'day'],
    ] as const) {
      await page.keyboard.press(letter);
      await page.waitForURL(new RegExp(`per=${per}`));
    }
    assertQuiet();
  });

  test('a span without calls names the last one before it, and leads there', async () => {
    const { page, assertQuiet } = suite.pages;
    const at = (ageDays: number): string => encodeURIComponent(new Date(Date.now() - ageDays * dayMs).toISOString());
    await page.goto(`/usage?from=${at(20)}&to=${at(10)}`);
    await page.getByText('The last one before it was on').getByRole('link').click();
    await page.getByRole('cell', { name: 'model-c', exact: true }).waitFor();
    await page.goto(`/usage?from=${at(90)}&to=${at(80)}`);
    await page.getByText('No calls in this span, and none before it.').waitFor();
    assertQuiet();
  });

  test('of an open call v verifies its price and p opens the playground', async () => {
    const { page, assertQuiet } = suite.pages;
    const { items } = await eventually(
      () => askApi(suite.pages.context, 'GET', '/calls?model=gpt-5-mini'),
      ({ items: calls }) => (calls as unknown[]).length > 0,
    );
    await page.goto(`/calls/${(items as { id: string }[])[0]?.id ?? ''}`);
    await page.getByText('recomputed here: the same').waitFor();
    await waitForLetters(page);
    await page.keyboard.press('v');
    await page.getByText('the stored prices give the same').waitFor();
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    assert.match(page.url(), /gpt-5-mini/);
    assertQuiet();
  });

  test('a new key says how many models it may call, comes with a first call that works, and its spend stands against its limit', async () => {
    const { page, assertQuiet } = suite.pages;
    await page.goto('/keys?new=1');
    await page.getByRole('combobox', { name: 'User' }).fill('fay');
    await page.getByLabel('Name of the key').fill('first');
    await page.getByLabel('Spend a month').fill('5');
    await page.getByText(/May call (\d+) of \1\./).waitFor();
    await page.getByRole('textbox', { name: 'Models' }).fill('claude-haiku-4-5');
    await page.getByText(/May call 1 of \d+\./).waitFor();
    await page.getByRole('button', { name: 'Make the key' }).click();
    const [shell, call] = [page.getByLabel('Line of a shell', { exact: true }), page.locator('pre[aria-label="A first call"]')];
    const script = `${(await shell.textContent()) ?? ''}\n${(await call.textContent()) ?? ''}`;
    assert.match(script, /claude-haiku-4-5/);
    await page.getByRole('combobox', { name: 'A first call' }).selectOption('python');
    await call.getByText('import').first().waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { timeout: 30_000 });
    assert.match(stdout, /You wrote: “Hello”/);
    await eventually(
      async () => {
        await page.goto('/keys?user=fay');
        return await page
          .getByRole('row')
          .filter({ has: page.getByRole('link', { name: 'fay/first' }) })
          .innerText();
      },
      (text) => /\$0\.0*[1-9]\d* of \$5/.test(text),
    );
    assertQuiet();
  });

  test('a new key without a list of models comes with a first call too', async () => {
    const { page, assertQuiet } = suite.pages;
    await page.goto('/keys?new=1');
    await page.getByRole('combobox', { name: 'User' }).fill('fay');
    await page.getByLabel('Name of the key').fill('any model');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.locator('pre[aria-label="A first call"]').waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    assertQuiet();
  });

  test('the pages have no barrier with them', async () => {
    for (const path of ['/?by=tokens', '/usage?r=7d&hide=model-b', '/keys'])
      await assertNoBarrier(suite.pages, suite.weir.consoleUrl, path);
  });
});

describe('a console with more users than a page has', { skip: skipPages }, () => {
  const suite = serveSuite(async ({ weir }) => {
    const store = await openStore(weir);
    for (let number = 0; number < 230; number += 1)
      await store.ensureUser({ id: `many-${number}`, name: `many-${number}`, createdAtMs: 1000 + number }, changeAt());
    await store.close();
  });

  test('the list asks for pages, goes on by itself, and a search finds a user of any page', async () => {
    const { page, assertQuiet } = suite.pages;
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/api/v1/users?') && asked.push(request.url()));
    await page.goto('/users');
    await page.getByRole('link', { name: 'many-1', exact: true }).waitFor();
    assert.ok(
      asked.every((url) => /[?&]limit=200\b/.test(url)),
      asked.join(' '),
    );
    await page.getByLabel('Name of the user').fill('MANY-229');
    await page.getByRole('link', { name: 'many-229', exact: true }).waitFor();
    await page.getByRole('link', { name: 'many-1', exact: true }).waitFor({ state: 'detached' });
    assertQuiet();
  });
});
