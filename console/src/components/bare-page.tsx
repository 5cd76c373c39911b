import type { ReactNode } from 'react';

import styles from './bare-page.module.css';

/** A page as long as nobody is known to be signed in: without the navigation. */
export function BarePage({ wide = false, children }: { readonly wide?: boolean; readonly children: ReactNode }) {
  return (
    <main className={styles['page']}>
      <div className={styles['box']} data-wide={wide}>
        <p className={styles['brand']}>
          <img src="/icon.svg" width="28" height="28" alt="" /> Weir
        </p>
        {children}
      </div>
    </main>
  );
}
