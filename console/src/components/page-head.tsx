import { useEffect, type ReactNode } from 'react';

import styles from './page-head.module.css';

/** The heading of a page, with its controls. It is the title of the tab too. */
export function PageHead({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  return (
    <header className={styles['head']}>
      <h1>{title}</h1>
      {children !== undefined && <div className={styles['tools']}>{children}</div>}
    </header>
  );
}
