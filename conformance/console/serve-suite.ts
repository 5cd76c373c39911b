import { after, before } from 'node:test';

import { openSignedIn, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole, type ServeConsoleOptions } from './serve-console.ts';

/** What a suite of pages works with; there while its tests run. */
export type ConsoleSuite = { weir: ServedConsole; pages: Pages; readonly opened: AsyncDisposableStack };

/**
 * Serves a console for the suite that calls this, with a browser in which its operator is signed in.
 * @param prepare makes what all tests need
 */
export function serveSuite(prepare: (suite: ConsoleSuite) => Promise<unknown>, options: ServeConsoleOptions = {}): ConsoleSuite {
  const opened = new AsyncDisposableStack();
  const suite = { opened } as ConsoleSuite;
  before(async () => {
    suite.weir = opened.use(await serveConsole(options));
    suite.pages = opened.use(await openSignedIn(suite.weir));
    await prepare(suite);
  });
  after(() => opened.disposeAsync());
  return suite;
}
