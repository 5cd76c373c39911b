import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { tabTo, waitForLetters } from './by-keyboard.ts';
import { assertFocusOrder, assertTrapped, focused } from './focus-order.ts';
import { skipPages } from './open-pages.ts';
import { serveSuite } from './serve-suite.ts';
import { makeState } from './states/make-state.ts';
import type { OddKey } from './states/odd-ledger.ts';
import { pagesOf } from './states/pages.ts';

/** Buttons that open a dialog, by their pages. */
const dialogs: readonly (readonly [path: string, button: RegExp])[] = [
  ['/usage?r=30d', /^Filter$/],
  ['/calls?r=30d', /^Filter$/],
  ['/playground', /^Tools$/],
  ['/playground', /^JSON reply$/],
  ['/keys', /^New key$/],
  ['/users', /^New user$/],
  ['/teams', /^New team$/],
  ['/credits', /^Book a payment$/],
  ['/prices?tab=drafts', /^New draft$/],
  ['/upstreams', /^Add an upstream$/],
  ['/settings/people', /^Invite somebody$/],
  ['/settings/tokens', /^New admin token$/],
];
/** Buttons that open a menu. */
const menus: readonly (readonly [path: string, button: RegExp])[] = [
  ['/calls?r=30d', /^Export/],
  ['/usage?r=30d', /^Export/],
  ['/', /account$/],
];

describe('the console by keyboard alone', { skip: skipPages }, () => {
  let keys: readonly OddKey[] = [];
  const suite = serveSuite(async ({ weir, pages }) => {
    keys = await makeState(weir, pages, 1);
  });

  async function open(path: string): Promise<void> {
    const { page } = suite.pages;
    await page.goto(path);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
  }

  test('Tab comes to every control of every page, in the order of the page, and each is seen and named', async () => {
    for (const path of pagesOf(keys)) {
      await open(path);
      await assertFocusOrder(suite.pages.page, path);
    }
    // No gateway serves the model with the long name.
    suite.pages.assertQuiet(/status of 404/);
  });

  test('the first stop of a page leads past the navigation', async () => {
    const { page } = suite.pages;
    await open('/calls?r=30d');
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'Skip to the page');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const isInPage = await page.evaluate<boolean>(`document.querySelector('main').contains(document.activeElement)`);
    assert.ok(isInPage, await focused(page));
  });

  for (const [path, name] of dialogs)
    test(`${path}: the dialog of ${name} takes the focus, keeps it, and returns it`, async () => {
      const { page } = suite.pages;
      await open(path);
      await tabTo(page, name);
      const opener = await focused(page);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await eventually(
        () => page.evaluate<boolean>(`document.activeElement?.closest('[role=dialog]') !== null`),
        (isInside) => isInside,
      );
      await assertTrapped(page, `${path} ${opener}`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await eventually(
        () => focused(page),
        (present) => present === opener,
      );
    });

  for (const [path, name] of menus)
    test(`${path}: the menu of ${name} is walked by arrows, and returns the focus`, async () => {
      const { page } = suite.pages;
      await open(path);
      await tabTo(page, name);
      const opener = await focused(page);
      await page.keyboard.press('Enter');
      await page.getByRole('menu').waitFor();
      await page.keyboard.press('ArrowDown');
      const entry = () => page.evaluate<string>(`document.activeElement?.closest('[role=menuitem]')?.textContent ?? ''`);
      const first = await eventually(entry, (text) => text !== '');
      await page.keyboard.press('ArrowDown');
      await eventually(entry, (text) => text !== '' && text !== first);
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      await eventually(
        () => focused(page),
        (present) => present === opener,
      );
    });

  test('the palette finds by keys alone, shows the chosen entry, and returns the focus', async () => {
    const { page } = suite.pages;
    await open('/calls?r=30d');
    await tabTo(page, /^Filter$/);
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Page, name or id' });
    await field.and(page.locator(':focus')).waitFor();
    await assertTrapped(page, 'palette');
    await field.focus();
    const isSeen = () =>
      page.evaluate<boolean>(`(() => {
        const chosen = document.querySelector('[role=option][aria-selected=true]');
        if (chosen === null) return false;
        const list = chosen.closest('[role=listbox]').getBoundingClientRect();
        const box = chosen.getBoundingClientRect();
        return box.top >= list.top - 1 && box.bottom <= list.bottom + 1 && chosen.id === document.activeElement.getAttribute('aria-activedescendant');
      })()`);
    for (let steps = 0; steps < 14; steps += 1) {
      await page.keyboard.press('ArrowDown');
      await eventually(isSeen, (seen) => seen);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(
      () => focused(page),
      (present) => present === 'Filter',
    );
    await page.keyboard.press('Control+k');
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('audit');
    await page.getByRole('option', { name: 'Audit', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  });

  test('g and a letter go to a page, also where the letter alone does something else', async () => {
    const { page } = suite.pages;
    await open('/usage?r=30d');
    await waitForLetters(page);
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await open('/usage?r=30d');
    await waitForLetters(page);
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Save this view' }).waitFor();
  });

  test('j and k walk through rows, Enter opens the panel of one, Escape closes it, and letters do nothing in a field', async () => {
    const { page } = suite.pages;
    await open('/audit');
    await waitForLetters(page);
    await page.keyboard.press('j');
    await page.locator('tr[data-active=true]').waitFor();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary');
    await panel.waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await open('/users');
    await page.getByLabel('Name of the user').focus();
    await page.keyboard.type('jn?g');
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.equal(await page.getByLabel('Name of the user').inputValue(), 'jn?g');
  });
});
