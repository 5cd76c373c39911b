import { type ReactNode, useEffect, useRef } from 'react';

import styles from './tabs.module.css';

/** Views of one page, as links: the address says which is open. */
export function Tabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const frame = useRef<HTMLElement>(null);
  // Where there is no room for all of them, the open one is seen.
  useEffect(() => {
    const [nav, open] = [frame.current, frame.current?.querySelector<HTMLElement>('[aria-current="page"]')];
    if (nav === null || open === null || open === undefined) return;
    const [box, own] = [nav.getBoundingClientRect(), open.getBoundingClientRect()];
    if (own.right > box.right || own.left < box.left) nav.scrollLeft += own.left - box.left - (box.width - own.width) / 2;
  });
  return (
    <nav ref={frame} className={styles['tabs']} aria-label={label}>
      {children}
    </nav>
  );
}

export const tabClass = styles['tab'] ?? '';
