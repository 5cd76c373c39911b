import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement } from 'react';

import { Icon, type IconName } from './icon.tsx';
import styles from './menu.module.css';

export type MenuEntry =
  | {
      readonly kind?: 'action';
      readonly text: string;
      readonly icon?: IconName;
      readonly danger?: boolean;
      readonly disabledBecause?: string;
      readonly onSelect: () => void;
    }
  | { readonly kind: 'line' };

/** A menu that opens at a button. */
export function Menu({
  trigger,
  entries,
}: {
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly entries: readonly MenuEntry[];
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className={styles['place']}>
          <Base.Popup className={styles['menu']}>
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
