import { useEffect, useRef } from 'react';

const fields = new Set(['INPUT', 'TEXTAREA', 'SELECT']);

/** Whether single letters are shortcuts. People who speak to their device, or type with a switch, turn them off. */
export function areLettersOn(): boolean {
  return localStorage.getItem('weir.letters') !== 'off';
}

/** Whether a prefix was pressed: then the next letter is of those who wait for it alone. */
let isPrefixed = false;
export const setPrefixed = (waits: boolean): void => {
  isPrefixed = waits;
};

/**
 * Shortcuts of the page, by the name of the key. They never act in a field, in a dialog or a menu, or together with a
 * key of the browser.
 */
export function useKeys(actions: Readonly<Record<string, () => void>>, follows: 'a prefix' | 'nothing' = 'nothing'): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const target = event.target instanceof HTMLElement ? event.target : undefined;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (target !== undefined && (fields.has(target.tagName) || target.isContentEditable)) return;
      if (target?.closest('[role=dialog],[role=menu],[role=alertdialog]') != null) return;
      if (event.key === 'Enter' && target?.closest('a,button,summary') != null) return;
      if (event.key.length === 1 && !areLettersOn()) return;
      if (isPrefixed !== (follows === 'a prefix')) return;
      const action = latest.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [follows]);
}
