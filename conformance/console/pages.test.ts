import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { askApi } from './ask-api.ts';
import { findChromium } from './find-chromium.ts';
import { entry } from '../../src/billing/journal/testing/call-kit.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { openStore, type ServedConsole, serveConsole } from './serve-console.ts';
import { watchPage } from './watch-page.ts';

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

  describe('what a page costs, with a thousand calls', () => {
    before(async () => {
      const store = await openStore(weir);
      const now = Date.now();
      const entries = Array.from({ length: 1200 }, (_, index) => ({
        ...entry(`req_0cost${String(index).padStart(6, '0')}`),
        acceptedAtMs: now - 10_000 - index * 600_000,
        userName: `costly-${index % 7}`,
        requestedModel: `model-${index % 9}`,
      }));
      for (let at = 0; at < entries.length; at += 400) await store.appendEntries(entries.slice(at, at + 400));
      await store.close();
      await eventually(
        () => askApi(pages.context, 'GET', '/overview'),
        ({ pending_calls: pending }) => pending === 0,
        60_000,
      );
    });

    test('its first view takes few requests and little work, and nothing moves', async (context) => {
      await using watch = await watchPage(pages.context);
      for (const [path, filesMax] of [
        ['/', 12],
        ['/usage?r=30d', 45],
        ['/calls?r=30d', 45],
        ['/keys', 45],
        ['/credits', 45],
        ['/upstreams', 45],
      ] as const) {
        const { questions, files, shift, workMs, elements } = await watch.load(path);
        context.diagnostic(JSON.stringify({ path, questions: questions.length, files: files.length, shift, workMs, elements }));
        // On a busy machine the database may refuse for a moment, and the page asks again.
        assert.ok(new Set(questions).size <= 6, `${path} asks too much: ${questions.join(' ')}`);
        assert.ok(files.length <= filesMax, `${path} loads ${files.length} files: ${files.join(' ')}`);
        assert.ok(shift <= 0.02, `${path} moves by ${shift}`);
        assert.ok(workMs <= 1500, `${path} takes ${workMs} ms of the processor`);
        assert.ok(elements <= 3000, `${path} has ${elements} elements`);
      }
    });

    test('a list of a thousand rows has few elements, and each key and click takes little work', async (context) => {
      await using watch = await watchPage(pages.context);
      await watch.load('/calls?r=30d');
      const { page } = watch;
      while (await page.getByRole('button', { name: 'More', exact: true }).isVisible()) {
        const next = page.waitForResponse(/\/api\/v1\/calls\?/);
        await page.getByRole('button', { name: 'More', exact: true }).click();
        await next;
      }
      await page.getByText('These are all.').waitFor();
      assert.ok(Number(await page.getByRole('table').last().getAttribute('aria-rowcount')) > 1000);
      for (const [what, times, act] of [
        ['the next row', 20, () => page.keyboard.press('j')],
        ['a panel', 1, () => page.keyboard.press('Enter')],
        ['its end', 1, () => page.keyboard.press('Escape')],
        ['the end of the list', 1, () => page.keyboard.press('End')],
        ['another page', 1, () => page.getByRole('link', { name: 'Usage' }).click()],
        ['and back', 1, () => page.goBack()],
      ] as const) {
        const workMs = await watch.workOf(async () => {
          for (let time = 0; time < times; time += 1) await act();
        });
        context.diagnostic(JSON.stringify({ what, workMs: workMs / times }));
        assert.ok(workMs / times <= 500, `${what} takes ${workMs / times} ms of the processor`);
        const elements = await page.evaluate<number>('document.querySelectorAll("*").length');
        assert.ok(elements <= 3000, `${what}: ${elements} elements`);
      }
    });

    test('a hidden page asks nothing, and asks again when it is seen', async () => {
      await using watch = await watchPage(pages.context, true);
      const { page } = watch;
      await watch.load('/');
      await page.clock.fastForward(40_000);
      await eventually(
        async () => watch.questions(),
        (asked) => asked.filter((path) => path === '/overview').length > 1,
      );
      await watch.show(false);
      const before = watch.questions().length;
      await page.clock.fastForward(10 * 60_000);
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(undefined)))');
      assert.deepEqual(watch.questions().slice(before), []);
      await watch.show(true);
      await eventually(
        async () => watch.questions().length,
        (asked) => asked > before,
      );
    });
  });
});
