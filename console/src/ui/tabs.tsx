import type { ReactNode } from 'react';

import styles from './tabs.module.css';

/** Views of one page, as links: the address says which is open. */
export function Tabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav className={styles['tabs']} aria-label={label}>
      {children}
    </nav>
  );
}

export const tabClass = styles['tab'] ?? '';
