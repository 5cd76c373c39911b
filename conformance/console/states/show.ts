import type { Pages } from '../open-pages.ts';

type Form = { readonly width: number; readonly height: number; readonly theme: 'light' | 'dark' };

/** The windows in which pages are looked at. */
export const forms: readonly Form[] = [
  { width: 1440, height: 900, theme: 'dark' },
  { width: 768, height: 1024, theme: 'dark' },
  { width: 360, height: 740, theme: 'light' },
];

/** Opens a page in a window, or only changes the window of the page that is open, and waits until it has its data. */
export async function show({ page, context }: Pages, url: string, path: string, { theme, ...window }: Form): Promise<void> {
  await page.setViewportSize(window);
  await context.addCookies([{ name: 'weir_theme', value: theme, url }]);
  if (window.width === forms[0]?.width) await page.goto(path);
  else await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
  await page.locator('h1').waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
  // Charts are drawn again in a new width in the frame after it.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(undefined))))');
}
