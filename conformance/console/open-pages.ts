import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

import { isLong } from '../support/scale.ts';
import { findChromium } from './find-chromium.ts';

const chromiumPath = findChromium();

/** Of a suite of pages: why it is skipped; false where there is a Chromium. */
export const skipPages = chromiumPath === undefined ? 'there is no Chromium on this machine' : false;

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

/** The shell without windows rounds the width of each letter up unless told, which no other browser does. */
const browserArguments = ['--no-sandbox', '--font-render-hinting=none'];

/** The browser of this process while pages are open, and their number. */
let shared: { readonly browser: Promise<Browser>; pages: number } | undefined;

/** The pages of a suite share one browser: its start takes a second of processor time. The last of them closes it. */
async function useBrowser(executablePath: string): Promise<{ readonly browser: Browser; readonly leave: () => Promise<void> }> {
  const used = (shared ??= { browser: chromium.launch({ executablePath, args: browserArguments }), pages: 0 });
  used.pages += 1;
  const leave = async (): Promise<void> => {
    used.pages -= 1;
    if (used.pages > 0) return;
    if (shared === used) shared = undefined;
    await (await used.browser).close();
  };
  try {
    return { browser: await used.browser, leave };
  } catch (error) {
    shared = undefined;
    throw error;
  }
}

/** A person's browser at the console, with cookies of its own. Everything that goes wrong in a page is kept. */
export async function openPages(executablePath: string, consoleUrl: string): Promise<Pages> {
  const { browser, leave } = await useBrowser(executablePath);
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
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await leave();
    },
  };
}

/** A browser in which the operator of the start is signed in, by the link that the start prints. */
export async function openSignedIn(weir: { readonly consoleUrl: string; readonly consoleLink: string }): Promise<Pages> {
  const pages = await openPages(chromiumPath ?? '', weir.consoleUrl);
  try {
    await pages.page.goto(weir.consoleLink);
    await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
    return pages;
  } catch (error) {
    await pages[Symbol.asyncDispose]();
    throw error;
  }
}

/** Every violation that axe finds on the page as it is now. The debugger injects it, so that the policy stays. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // Not waitForFunction: its second try is refused by the policy. An animation without an end is no reason to wait.
  await page.evaluate(`Promise.allSettled(document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)).then(() => undefined)`);
  const session = await page.context().newCDPSession(page);
  const { result: present } = await session.send('Runtime.evaluate', { expression: 'typeof axe' });
  if (present.value !== 'object') await session.send('Runtime.evaluate', { expression: await readFile(axePath, 'utf8') });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      JSON.stringify(violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + help + ' ' + target.join(' ') + ' ' + failureSummary))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as readonly string[];
}

const wide = { width: 1440, height: 900 };
const narrow = { width: 360, height: 740 };

const views = { light: [wide, narrow], dark: [narrow, wide] } as const;

/**
 * Shows a page light and wide, or dark and narrow. Colours come from one sheet for all pages and layout from
 * shared parts, so that half of the pages in each form show every colour and part. WEIR_LONG=1 shows each page in both
 * themes at both widths, and loads it in each theme; its width changes as on a phone that is turned.
 * @param check called each time with a description of theme and width
 */
async function showInEachForm(
  { page, context }: Pages,
  consoleUrl: string,
  path: string,
  check: (where: string) => Promise<void>,
): Promise<void> {
  // Half of the addresses, always the same ones.
  const usual = Buffer.from(path).reduce((sum, byte) => sum + byte, 0) % 2 === 0 ? 'dark' : 'light';
  for (const theme of isLong ? (['light', 'dark'] as const) : ([usual] as const)) {
    await context.addCookies([{ name: 'weir_theme', value: theme, url: consoleUrl }]);
    for (const view of views[theme].slice(0, isLong ? 2 : 1)) {
      await page.setViewportSize(view);
      if (view === views[theme][0]) await load(page, path, theme);
      else await draw(page);
      await check(`${path} at ${view.width} px in the ${theme} theme`);
    }
  }
  await page.setViewportSize(wide);
}

async function load(page: Page, path: string, theme: string): Promise<void> {
  await page.goto(path);
  // Behind a dialog a heading has no role.
  await page.locator('h1').waitFor();
  assert.equal(await page.evaluate<string>('document.documentElement.dataset.theme'), theme, 'the server writes the theme');
  await page.waitForLoadState('networkidle');
}

/** Waits until the page has been drawn at its width. */
async function draw(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(undefined))))');
  await page.waitForLoadState('networkidle');
}

/** Fails if the page as it is now has a violation or is too wide. */
async function assertNoBarrierNow({ page, assertQuiet }: Pages, where: string): Promise<void> {
  assert.deepEqual(await findViolations(page), [], where);
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.ok(overflow <= 0, `${where} is ${overflow} px too wide`);
  assertQuiet();
}

/** Fails if a page has a violation or is too wide, in a theme or at a width. */
export function assertNoBarrier(pages: Pages, consoleUrl: string, path: string): Promise<void> {
  return showInEachForm(pages, consoleUrl, path, (where) => assertNoBarrierNow(pages, where));
}
