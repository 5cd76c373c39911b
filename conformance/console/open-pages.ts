import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { type BrowserContext, chromium, type Page } from 'playwright-core';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export type Pages = AsyncDisposable & {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails if a page has written an error, was refused something by the policy, or threw. */
  readonly assertQuiet: () => void;
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
    assertQuiet: () => assert.deepEqual(problems, []),
    [Symbol.asyncDispose]: () => browser.close(),
  };
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
