import type { ReactNode } from 'react';

import { CodeLine } from './copy.tsx';
import { Icon } from './icon.tsx';
import styles from './notice.module.css';

/** What a page says instead of rows: why there are none, and what to do next, with a line to copy. */
export function Empty({ title, children, line }: { readonly title: string; readonly children?: ReactNode; readonly line?: string }) {
  return (
    <div className={styles['empty']}>
      <p className={styles['title']}>{title}</p>
      {children !== undefined && <p className={styles['text']}>{children}</p>}
      {line !== undefined && <CodeLine text={line} label="Command" />}
    </div>
  );
}

/** A remark that stays: something is stale, simulated, or in the way. */
export function Notice({
  tone,
  children,
  action,
}: {
  readonly tone: 'info' | 'warning' | 'bad';
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className={styles['notice']} data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={tone === 'info' ? 'clock' : 'warning'} />
      <div className={styles['words']}>{children}</div>
      {action}
    </div>
  );
}

/** A block in the final size of what is being loaded. It shows only after 150 ms. */
export function Skeleton({ rows = 6, label = 'Loading' }: { readonly rows?: number; readonly label?: string }) {
  return (
    <div className={styles['skeleton']} role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}
