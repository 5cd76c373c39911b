import { Menu as Base } from '@base-ui/react/menu';

import { Icon } from './icon.tsx';
import type { MenuEntry } from './menu-entry.ts';
import styles from './menu.module.css';

type Props = {
  readonly anchor: Element;
  readonly entries: readonly MenuEntry[];
  readonly onClose: () => void;
};

/** The entries of a menu at its button. The focus returns to the button. */
export function MenuPopup({ anchor, entries, onClose }: Props) {
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Positioner anchor={anchor} sideOffset={4} align="end" className={styles['place']}>
          <Base.Popup className={styles['menu']} finalFocus={() => (anchor instanceof HTMLElement ? anchor : true)}>
            {entries.map((entry, index) =>
              entry.kind === 'line' ? (
                <Base.Separator key={index} className={styles['line']} />
              ) : (
                <Base.Item
                  key={entry.text}
                  className={styles['item']}
                  data-danger={entry.danger}
                  disabled={entry.disabledBecause !== undefined}
                  onClick={entry.onSelect}
                >
                  {entry.icon !== undefined && <Icon name={entry.icon} />}
                  <span>
                    {entry.text}
                    {entry.disabledBecause !== undefined && <small className={styles['reason']}>{entry.disabledBecause}</small>}
                  </span>
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
