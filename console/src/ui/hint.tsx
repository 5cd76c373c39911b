import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

import styles from './hint.module.css';

/** A short text at an element, for pointer and keyboard. It is an addition: nothing is said only here. */
export function Hint({ text, children }: { readonly text: string; readonly children: ReactElement<Record<string, unknown>> }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} delay={400} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className={styles['place']}>
          <Tooltip.Popup className={styles['hint']}>{text}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
