import assert from 'node:assert/strict';

import type { BrowserContext, Page } from 'playwright-core';

type View = {
  /** Requests to the API, without the stream of events. */
  readonly questions: readonly string[];
  /** Other files. */
  readonly files: readonly string[];
  /** How much has moved that was seen, as browsers measure it. */
  readonly shift: number;
  /** Processor time of the page's thread: other programs on the machine do not add to it. */
  readonly workMs: number;
  readonly elements: number;
};

export type WatchedPage = AsyncDisposable & {
  readonly page: Page;
  /** Loads a page without a cache, until it has been quiet for half a second. */
  readonly load: (path: string) => Promise<View>;
  /** Processor time of what follows from an action, in ms. */
  readonly workOf: (act: () => Promise<unknown>) => Promise<number>;
  /** All requests to the API since the last load began, without the stream of events. */
  readonly questions: () => readonly string[];
  /** Hides the page, as another tab does, or shows it. */
  readonly show: (isShown: boolean) => Promise<void>;
};

const watchShifts = `globalThis.shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => hadRecentInput || (globalThis.shift += value)))
    .observe({ type: 'layout-shift', buffered: true });`;
const quietMs = 500;

/**
 * A page with the session of a browser, an empty cache, and what it costs.
 * @param hasClock whether its clock is set by the test, by `page.clock`
 */
export async function watchPage(context: BrowserContext, hasClock = false): Promise<WatchedPage> {
  const browser = context.browser() ?? assert.fail('The context has no browser.');
  const origin = new URL(context.pages()[0]?.url() ?? '').origin;
  const fresh = await browser.newContext({
    baseURL: origin,
    storageState: await context.storageState(),
    viewport: { width: 1440, height: 900 },
  });
  await fresh.addInitScript(watchShifts);
  const page = await fresh.newPage();
  if (hasClock) await page.clock.install();
  const session = await fresh.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let questions: string[] = [];
  let files: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === '/api/v1/events') return;
    if (pathname.startsWith('/api/v1')) questions.push(pathname.slice('/api/v1'.length));
    else files.push(pathname);
  });
  const work = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? assert.fail('The browser does not tell its work.')) * 1000;
  };
  /** Until the page has done nothing for a moment. */
  const settle = async (): Promise<void> => {
    for (let before = -1; ;) {
      const asked = questions.length + files.length;
      if (asked === before) return;
      before = asked;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
  };
  return {
    page,
    load: async (path) => {
      // A document of the same process, so that its work counts on.
      await page.goto('/icon.svg');
      [questions, files] = [[], []];
      const before = await work();
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settle();
      const [shift, elements] = await page.evaluate<[number, number]>('[globalThis.shift, document.querySelectorAll("*").length]');
      return { questions: [...questions], files: [...files], shift, elements, workMs: Math.round((await work()) - before) };
    },
    workOf: async (act) => {
      const before = await work();
      await act();
      await settle();
      return (await work()) - before;
    },
    questions: () => [...questions],
    show: (isShown) =>
      page.evaluate(`(() => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isShown ? 'visible' : 'hidden'}' });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      })()`),
    [Symbol.asyncDispose]: () => fresh.close(),
  };
}
