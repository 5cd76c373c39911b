import assert from 'node:assert/strict';

import type { Page } from 'playwright-core';

const tabsMax = 120;

/** Presses Tab until the focus is on a control with this name, as a person without a pointer does. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let tabs = 0; tabs < tabsMax; tabs += 1) {
    await page.keyboard.press('Tab');
    const present = await page.evaluate<string>(`(({ activeElement: e }) => e === null ? '' :
      e.getAttribute('aria-label') ?? (e.labels?.[0]?.textContent || e.textContent))(document)`);
    if (name.test(present)) return;
    passed.push(present);
  }
  assert.fail(`Tab does not come to ${name}; it came to ${passed.join(', ')}`);
}

/**
 * Waits until a page that shows something also listens to its letters: it begins to after it has been drawn, in a task
 * of its own, which a slow machine leaves for later.
 */
export async function waitForLetters(page: Page): Promise<void> {
  await page.evaluate(
    `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(undefined)))))`,
  );
}

/** Goes to a page by its letters, again if the first ones came before the page listened. */
export async function goTo(page: Page, letter: string, title: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1, name: title, exact: true });
  for (let tries = 0; tries < 5 && !(await heading.isVisible()); tries += 1) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await heading.waitFor({ timeout: 4000 }).catch(() => undefined);
  }
  assert.ok(await heading.isVisible(), `g ${letter} does not lead to ${title}`);
}
