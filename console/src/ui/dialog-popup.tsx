import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

import { Button } from './button.tsx';
import styles from './dialog.module.css';

export type DialogProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons at the end. */
  readonly actions?: ReactNode;
  /** What must not be lost by accident: Escape and a click outside do not close it, and there is no cross. */
  readonly stays?: boolean;
  readonly size?: 'small' | 'large';
};

/** The dialog itself, which `Dialog` loads when one is opened. */
export function DialogPopup(props: DialogProps & { readonly findOpener: () => HTMLElement | undefined }) {
  const { open, onClose, title, children, actions, stays = false, size = 'small', findOpener } = props;
  const change = (isOpen: boolean, details: { readonly reason?: string }) => {
    if (isOpen || (stays && details.reason !== 'close-press' && details.reason !== 'imperative-action')) return;
    onClose();
  };
  return (
    <Base.Root open={open} onOpenChange={change} disablePointerDismissal={stays}>
      <Base.Portal>
        <Base.Backdrop className={styles['shade']} />
        <Base.Viewport className={styles['viewport']}>
          <Base.Popup className={styles['dialog']} data-size={size} finalFocus={() => findOpener() ?? true}>
            <header className={styles['head']}>
              <Base.Title className={styles['title']}>{title}</Base.Title>
              {!stays && <Button kind="quiet" icon="close" label="Close" onClick={onClose} />}
            </header>
            <div className={styles['body']}>{children}</div>
            {actions !== undefined && <footer className={styles['actions']}>{actions}</footer>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
