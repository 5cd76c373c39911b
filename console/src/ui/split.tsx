import type { ReactNode } from 'react';

import { Button } from './button.tsx';
import styles from './split.module.css';
import { useKeys } from './use-keys.ts';

/** A list, and beside it the panel of what is open. On narrow windows the panel lies over the list. */
export function Split({ children, panel }: { readonly children: ReactNode; readonly panel: ReactNode }) {
  return (
    <div className={styles['split']} data-open={panel !== undefined && panel !== null && panel !== false}>
      <div className={styles['list']}>{children}</div>
      {panel}
    </div>
  );
}

type PanelProps = {
  /** What the panel is about, for readers of the screen. */
  readonly label: string;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly onClose: () => void;
};

/** The panel of an object that a list has open. Escape closes it. */
export function SidePanel({ label, title, children, onClose }: PanelProps) {
  useKeys({ Escape: onClose });
  return (
    <aside className={styles['panel']} aria-label={label}>
      <div className={styles['head']}>
        <div className={styles['title']}>{title}</div>
        <Button kind="quiet" icon="close" label="Close" shortcut="Escape" onClick={onClose} />
      </div>
      {children}
    </aside>
  );
}
