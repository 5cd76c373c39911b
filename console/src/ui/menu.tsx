import { cloneElement, lazy, type ReactElement, Suspense, useRef, useState } from 'react';

import { loadAgain } from './load-again.ts';
import type { MenuEntry } from './menu-entry.ts';
import styles from './menu.module.css';

const load = loadAgain(() => import('./menu-popup.tsx'));
const MenuPopup = lazy(() => load().then(({ MenuPopup: component }) => ({ default: component })));

type Props = {
  /** A button. It gets what it needs to open the menu. */
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly entries: readonly MenuEntry[];
};

/** A menu that opens at a button. What it opens is loaded when a pointer or the focus comes near. */
export function Menu({ trigger, entries }: Props) {
  const place = useRef<HTMLSpanElement>(null);
  const [anchor, setAnchor] = useState<Element>();
  const open = (): void => setAnchor(place.current?.firstElementChild ?? undefined);
  return (
    <span ref={place} className={styles['trigger']} onPointerEnter={() => void load()} onFocus={() => void load()}>
      {cloneElement(trigger, { 'aria-haspopup': 'menu', 'aria-expanded': anchor !== undefined, onClick: open })}
      {anchor !== undefined && (
        <Suspense>
          <MenuPopup anchor={anchor} entries={entries} onClose={() => setAnchor(undefined)} />
        </Suspense>
      )}
    </span>
  );
}
