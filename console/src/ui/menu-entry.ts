import type { IconName } from './icon.tsx';

/** A line of a menu: something to do, or a line between groups. */
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
