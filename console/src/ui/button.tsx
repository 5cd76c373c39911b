import type { ReactNode } from 'react';

import { Hint } from './hint.tsx';
import { Icon, type IconName } from './icon.tsx';
import styles from './button.module.css';

type Props = {
  readonly children?: ReactNode;
  readonly icon?: IconName;
  /** Needed where there is only an icon. */
  readonly label?: string;
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  /** A running action: the button stays in place and cannot be used. */
  readonly busy?: boolean;
  /** Why the button cannot be used now. It stays focusable, so that everybody can read the reason. */
  readonly disabledBecause?: string | undefined;
  readonly pressed?: boolean;
  readonly shortcut?: string;
  /** Given by a menu to its button. */
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
  readonly onClick?: () => void;
};

/** A button. A button that cannot be used says why. */
export function Button({
  children,
  icon,
  label,
  kind = 'plain',
  type = 'button',
  busy = false,
  disabledBecause,
  pressed,
  shortcut,
  onClick,
  ...ofMenu
}: Props) {
  const isOff = busy || disabledBecause !== undefined;
  const button = (
    <button
      type={type}
      className={styles['button']}
      data-kind={kind}
      data-icon-only={children === undefined}
      aria-label={label}
      aria-pressed={pressed}
      aria-busy={busy || undefined}
      aria-disabled={isOff || undefined}
      aria-keyshortcuts={shortcut}
      {...ofMenu}
      onClick={(event) => {
        if (isOff) return event.preventDefault();
        onClick?.();
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
  const hint = disabledBecause ?? (children === undefined ? label : undefined);
  return hint === undefined ? button : <Hint text={shortcut === undefined ? hint : `${hint} (${shortcut})`}>{button}</Hint>;
}
