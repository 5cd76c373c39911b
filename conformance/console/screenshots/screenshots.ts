import type { Page } from 'playwright-core';

/** a screenshot of the documentation. */
export type Screenshot = {
  /** Name of the file in docs/images, without its ending. */
  readonly name: string;
  readonly path: string;
  readonly theme: 'light' | 'dark';
  /** What a person would do before: waits until the page has its data, opens what is to be seen. */
  readonly prepare: (page: Page) => Promise<unknown>;
};

async function showOverview(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Spend by model' }).waitFor();
  await page.getByRole('heading', { name: /^First steps/ }).waitFor();
}

/** All screenshots of README and guides. */
export const screenshots: readonly Screenshot[] = [
  {
    name: 'console-overview',
    path: '/',
    theme: 'light',
    prepare: showOverview,
  },
  {
    name: 'console-overview-dark',
    path: '/',
    theme: 'dark',
    prepare: showOverview,
  },
  {
    name: 'console-usage',
    path: '/usage?r=30d&by=model',
    theme: 'light',
    prepare: (page) => page.getByRole('row').nth(3).waitFor(),
  },
  {
    name: 'console-call',
    path: '/calls?r=24h',
    theme: 'light',
    prepare: async (page) => {
      await page.getByRole('row').filter({ hasText: 'finished' }).nth(2).click();
      await page.getByText('recomputed here: the same').waitFor();
    },
  },
  {
    name: 'console-user',
    path: '/users/support',
    theme: 'light',
    prepare: (page) => page.getByRole('heading', { name: 'Spend in 30 days' }).waitFor(),
  },
];
