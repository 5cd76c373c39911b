import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { entry } from '../../src/billing/journal/testing/call-kit.ts';
import { eventually } from '../support/http.ts';
import { untilListed } from './ask-api.ts';
import { skipPages } from './open-pages.ts';
import { openStore } from './serve-console.ts';
import { serveSuite } from './serve-suite.ts';
import { watchPage } from './watch-page.ts';

describe('what a page costs, with a thousand calls', { skip: skipPages }, () => {
  const suite = serveSuite(async ({ weir, pages }) => {
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
    await untilListed(pages.context);
  });

  test('its first view takes few requests and little work, and nothing moves', async (context) => {
    await using watch = await watchPage(suite.pages.context);
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
    await using watch = await watchPage(suite.pages.context);
    await watch.load('/calls?r=30d');
    const { page } = watch;
    const more = page.getByRole('button', { name: 'More', exact: true });
    const rows = async (): Promise<number> => Number(await page.getByRole('table').last().getAttribute('aria-rowcount'));
    await more.waitFor();
    // A list whose end comes near the window gets its next page.
    while (await more.isVisible()) await more.scrollIntoViewIfNeeded({ timeout: 1000 }).catch(() => undefined);
    await page.getByText('These are all.').waitFor();
    assert.ok((await rows()) > 1000);
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

  test('a list that does not have its calls yet says so, and shows them when it has', async () => {
    await using watch = await watchPage(suite.pages.context);
    const { page } = watch;
    const early = { items: [], next_cursor: null, pending_calls: 1200 };
    await page.route(
      '**/api/v1/calls?*',
      async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ json: { ...((await answer.json()) as object), ...early } });
      },
      { times: 1 },
    );
    await page.goto('/calls?r=30d');
    await page.getByText('No call is in this list yet.').waitFor();
    assert.equal(await page.getByText('These are all.').count(), 0);
    await page.getByRole('button', { name: 'More', exact: true }).waitFor();
  });

  test('a hidden page asks nothing, and asks again when it is seen', async () => {
    await using watch = await watchPage(suite.pages.context, true);
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
