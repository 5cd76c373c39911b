import assert from 'node:assert/strict';

import type { Page } from 'playwright-core';

/** A control to which Tab has come. */
type Stop = { readonly path: number; readonly name: string; readonly fault: string | null };

const stopsMax = 400;

/** Describes the focused control, and its faults for people who use only a keyboard. */
const describeStop = String.raw`(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const nameOf = (e) => e.getAttribute('aria-label') ?? ([...(e.labels ?? [])].map((label) => label.textContent).join(' ') || e.textContent || e.getAttribute('title') || '');
  const known = (globalThis.knownControls ??= new WeakMap());
  const pathOf = (e) => known.get(e) ?? (known.set(e, globalThis.controls = (globalThis.controls ?? 0) + 1), globalThis.controls);
  // A hidden control has the place of its label.
  const own = element.getBoundingClientRect();
  const box = own.width <= 1 && element.closest('label') !== null ? element.closest('label').getBoundingClientRect() : own;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const faults = [];
  if (nameOf(element).trim() === '') faults.push('has no name');
  if (box.width < 1 || box.height < 1) faults.push('has no size');
  if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth) faults.push('lies outside the window');
  // The parts of a field for a date are marked by the browser, one after the other.
  const hasParts = /^date/.test(element.type ?? '');
  if (!hasParts && (outlineStyle === 'none' || parseFloat(outlineWidth) < 2)) {
    // A control whose label shows the focus in its place.
    const label = element.closest('label');
    const shown = label === null ? undefined : getComputedStyle(label);
    if (shown === undefined || shown.outlineStyle === 'none' || parseFloat(shown.outlineWidth) < 2) faults.push('does not show the focus');
  }
  // WCAG 2.2, 2.4.11: something of it is not under another part of the page.
  const places = [[0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [0.5, 0.1], [0.5, 0.9]];
  const isSeen = places.some(([x, y]) => {
    const top = document.elementFromPoint(box.left + box.width * x, box.top + box.height * y);
    return top !== null && (element.contains(top) || top.contains(element) || (box !== own && element.closest('label').contains(top)));
  });
  if (!isSeen && !faults.includes('lies outside the window')) faults.push('is covered');
  if (element.tabIndex > 0) faults.push('has an order of its own');
  return { path: pathOf(element), name: element.tagName.toLowerCase() + ' ' + nameOf(element).trim().slice(0, 50), fault: faults.length === 0 ? null : faults.join(', ') };
})()`;

/** The controls of the page to which Tab should come, in the order of the document; of a group of choices, one. */
const reachable = String.raw`(() => {
  const known = (globalThis.knownControls ??= new WeakMap());
  const pathOf = (e) => known.get(e) ?? (known.set(e, globalThis.controls = (globalThis.controls ?? 0) + 1), globalThis.controls);
  const all = [...document.querySelectorAll('a[href],button,input,select,textarea,summary,[tabindex]')];
  const root = document.querySelector('[role=dialog]') ?? document.body;
  return all.filter((e) => root.contains(e) && e.tabIndex >= 0 && !e.disabled && e.type !== 'hidden' && e.closest('[inert]') === null &&
    e.checkVisibility({ visibilityProperty: true })).filter((e) => e.type !== 'radio' || e.checked)
    .map((e) => ({ path: pathOf(e), name: e.tagName.toLowerCase() + ' ' + (e.getAttribute('aria-label') ?? e.textContent.trim().slice(0, 50)) }));
})()`;

/**
 * Goes through a page by Tab from its beginning to its end. Fails if a control is not reached, is reached in another
 * order than that of the document, has no name, is not seen, or does not show that it has the focus.
 */
export async function assertFocusOrder(page: Page, where: string): Promise<void> {
  await page.evaluate('document.activeElement?.blur(); window.scrollTo(0, 0)');
  const expected = await page.evaluate<readonly Stop[]>(reachable);
  const stops: Stop[] = [];
  for (let tabs = 0; tabs < stopsMax; tabs += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<Stop | null>(describeStop);
    if (stop === null || stop.path === stops[0]?.path) break;
    stops.push(stop);
  }
  assert.deepEqual(
    stops.flatMap(({ name, fault }) => (fault === null ? [] : [`${name} ${fault}`])),
    [],
    where,
  );
  const reached = new Set(stops.map(({ path }) => path));
  assert.deepEqual(
    expected.flatMap(({ path, name }) => (reached.has(path) ? [] : [name])),
    [],
    `${where}: Tab does not come to these`,
  );
  const places = new Map(expected.map(({ path }, index) => [path, index]));
  const order = stops.map(({ path }) => places.get(path) ?? -1).filter((place) => place >= 0);
  assert.deepEqual(
    order,
    order.toSorted((one, other) => one - other),
    `${where}: the order of Tab is not that of the page`,
  );
}

const tabsInDialog = 30;

/** Whether the focus stays in the dialog that is open, in both directions. */
export async function assertTrapped(page: Page, where: string): Promise<void> {
  for (const key of ['Tab', 'Shift+Tab'])
    for (let tabs = 0; tabs < tabsInDialog; tabs += 1) {
      await page.keyboard.press(key);
      // A guard at an end of the dialog sends the focus to the other end with the next frame.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(undefined))))');
      const outside = await page.evaluate<string | null>(`(({ activeElement: e }) =>
        // At both ends of a dialog is a guard, which sends the focus to the other end.
        e.closest('[role=dialog],[role=alertdialog],[data-base-ui-focus-guard]') === null ? e.outerHTML.slice(0, 300) : null)(document)`);
      assert.equal(outside, null, `${where}: ${key} leaves the dialog after ${tabs + 1}`);
    }
}

/** The name of the control that has the focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(({ activeElement: e }) => e === null || e === document.body ? '' :
    (e.getAttribute('aria-label') ?? e.textContent).trim())(document)`);
}
