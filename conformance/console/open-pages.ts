import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { type BrowserContext, chromium, type Page } from 'playwright-core';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export type Pages = AsyncDisposable & {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * Fails if a page has written an error, was refused something by the policy, or threw.
   * @param provoked what the browser writes about a refusal that the test provokes
   */
  readonly assertQuiet: (provoked?: RegExp) => void;
};

/**
 * With WEIR_TEST_SLOWER=6, pages have a sixth of the processor. A suite that passes only on a fast machine reads a page
 * before it is ready: find the place, and wait there for what a person would wait for.
 */
const slower = Number(process.env['WEIR_TEST_SLOWER'] ?? 1);

/** A browser at the console. Everything that goes wrong in a page is kept. */
export async function openPages(executablePath: string, consoleUrl: string): Promise<Pages> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const context = await browser.newContext({ baseURL: consoleUrl, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  if (slower > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: slower });
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(`${error.name}: ${error.message}`));
  return {
    page,
    context,
    assertQuiet: (provoked) => {
      const expected = provoked === undefined ? [] : problems.filter((problem) => provoked.test(problem));
      assert.deepEqual(
        problems.filter((problem) => !expected.includes(problem)),
        [],
      );
      problems.length = 0;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Every violation that axe finds on the page as it is now. The debugger injects it, so that the policy stays. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // Not waitForFunction: its second try is refused by the policy. An animation without an end is no reason to wait.
  await page.evaluate(`Promise.allSettled(document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)).then(() => undefined)`);
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: await readFile(axePath, 'utf8') });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      JSON.stringify(violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + help + ' ' + target.join(' ') + ' ' + failureSummary))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as readonly string[];
}

const views = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
];

/** Fails if a page has a violation or is too wide, in a theme or at a width. */
export async function assertNoBarrier({ page, context, assertQuiet }: Pages, consoleUrl: string, path: string): Promise<void> {
  for (const theme of ['light', 'dark'])
    for (const view of views) {
      await context.addCookies([{ name: 'weir_theme', value: theme, url: consoleUrl }]);
      await page.setViewportSize(view);
      await page.goto(path);
      // Behind a dialog a heading has no role.
      await page.locator('h1').waitFor();
      await page.waitForLoadState('networkidle');
      const where = `${path} at ${view.width} px in the ${theme} theme`;
      assert.deepEqual(await findViolations(page), [], where);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.ok(overflow <= 0, `${where} is ${overflow} px too wide`);
      assertQuiet();
    }
  await page.setViewportSize({ width: 1440, height: 900 });
}
