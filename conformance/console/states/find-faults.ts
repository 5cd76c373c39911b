import type { Page } from 'playwright-core';

/**
 * Faults of the layout, as the browser measures them: a page that scrolls sideways, a control outside the window, texts
 * that lie over each other, a figure that is cut. A name may be cut where its title or its link has all of it.
 */
export function findFaults(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(${inPage})()`);
}

// Runs in the page, so it is a text: the types of the suite have no document.
const inPage = String.raw`() => {
  const faults = [];
  const say = (what, element) => {
    const place = element.closest('[aria-label],section,td,th,li,dd')?.getAttribute('aria-label') ?? '';
    faults.push(what + ': ' + element.tagName.toLowerCase() + (place === '' ? '' : ' in ' + place) + ': ' + element.textContent.trim().slice(0, 60));
  };
  const isSeen = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.closest('.visually-hidden,svg') === null;
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over > 0) faults.push('the page is ' + over + ' px too wide');

  const whole = (element, text) => {
    for (let at = element; at !== null; at = at.parentElement) {
      if ((at.getAttribute('title') ?? '').includes(text) || (at.getAttribute('aria-label') ?? '').includes(text)) return true;
      if (at.dataset.canOpen === 'true' || at.matches('a,button,select')) return true;
    }
    return element.querySelector('a,[title]') !== null;
  };
  for (const element of document.querySelectorAll('body *')) {
    const { overflowX, textOverflow } = getComputedStyle(element);
    if (!/hidden|clip/.test(overflowX) || element.scrollWidth <= element.clientWidth + 1 || !isSeen(element)) continue;
    const text = element.textContent.trim();
    if (text === '') continue;
    if (element.dataset.figures === 'true' || element.querySelector('data') !== null) say('a figure is cut', element);
    else if (textOverflow !== 'ellipsis') say('a text is cut without a mark', element);
    else if (!whole(element, text)) say('a text is cut, and nothing has all of it', element);
  }

  /** The part of a rectangle that the boxes around it leave visible. */
  const clip = (node, { left, top, right, bottom }) => {
    for (let at = node.parentElement; at !== null; at = at.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(at);
      if (overflowX === 'visible' && overflowY === 'visible') continue;
      const box = at.getBoundingClientRect();
      if (overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (overflowY !== 'visible') [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return { left, top, right, bottom };
  };
  const isLoose = (node) => {
    for (let at = node.parentElement; at !== null; at = at.parentElement)
      if (/sticky|fixed|absolute/.test(getComputedStyle(at).position)) return true;
    return false;
  };
  const texts = [];
  const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.data.trim() === '' || !isSeen(node.parentElement) || isLoose(node)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const box = clip(node, rect);
      if (box.right - box.left > 2 && box.bottom - box.top > 2) texts.push({ node, ...box });
    }
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((one, index) => {
    for (let at = index + 1; at < texts.length && texts[at].top < one.bottom - 3; at += 1) {
      const other = texts[at];
      if (other.node === one.node) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 2 && down > 4) say('lies over "' + other.node.data.trim().slice(0, 30) + '"', one.node.parentElement);
    }
  });

  for (const element of document.querySelectorAll('main a,main button,main input,main select,main textarea')) {
    if (!isSeen(element) || element.closest('[role=group],pre,ul,svg') !== null) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)) say('lies outside the window', element);
  }
  return [...new Set(faults)].slice(0, 20);
}`;
