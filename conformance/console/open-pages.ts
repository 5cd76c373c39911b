import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
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

/** A browser at the console. Everything that goes wrong in a page is kept. */
export async function openPages(executablePath: string, consoleUrl: string): Promise<Pages> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const context = await browser.newContext({ baseURL: consoleUrl, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
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

/**
 * Sends a request with the session of a browser, as another client of the same person does.
 * @returns the body of the answer, which must not be a refusal
 */
export async function sendAs(
  { context }: Pages,
  method: string,
  path: string,
  data?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await context.request.fetch(`/api/v1${path}`, {
    method,
    headers: { 'sec-fetch-site': 'same-origin', ...(method === 'POST' && { 'idempotency-key': randomUUID() }), ...headers },
    ...(data !== undefined && { data }),
  });
  assert.ok(answer.ok(), `${method} ${path}: ${answer.status()} ${await answer.text()}`);
  const text = await answer.text();
  const body: unknown = text === '' ? {} : JSON.parse(text);
  assert.ok(typeof body === 'object' && body !== null);
  return { ...body } as Readonly<Record<string, unknown>>;
}

/** A browser of another person, whom an operator makes and lets in by a link. */
export async function openPagesAs(
  operator: Pages,
  person: { readonly name: string; readonly role: string; readonly users?: readonly string[] },
  { executablePath, consoleUrl }: { readonly executablePath: string; readonly consoleUrl: string },
): Promise<Pages> {
  const { id } = await sendAs(operator, 'POST', '/people', person);
  const { url } = await sendAs(operator, 'POST', `/people/${String(id)}/link`);
  const pages = await openPages(executablePath, consoleUrl);
  await pages.page.goto(`${consoleUrl}/${new URL(String(url)).hash}`);
  await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return pages;
}

/** No page has a barrier, in both themes, wide and narrow, and none is wider than its window. */
export async function assertNoBarrier(pages: Pages, path: string): Promise<void> {
  const { page, context } = pages;
  for (const theme of ['light', 'dark'])
    for (const view of [
      { width: 1440, height: 900 },
      { width: 360, height: 740 },
    ]) {
      await context.addCookies([{ name: 'weir_theme', value: theme, url: new URL(page.url()).origin }]);
      await page.setViewportSize(view);
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const where = `${path} at ${view.width} px, ${theme}`;
      assert.deepEqual(await findViolations(page), [], where);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.ok(overflow <= 0, `${where} is ${overflow} px too wide`);
    }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Every violation that axe finds on the page as it is now. The debugger injects it, so that the policy stays. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  await page.waitForFunction(`document.getAnimations().every(({ playState }) => playState === 'finished')`);
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
