import { lazy, Suspense, useEffect, useState } from 'react';

import type { DialogProps } from './dialog-popup.tsx';
import { loadAgain } from './load-again.ts';

const load = loadAgain(() => import('./dialog-popup.tsx'));
const DialogPopup = lazy(() => load().then(({ DialogPopup: component }) => ({ default: component })));

/**
 * A dialog. The focus goes into it and returns to where it was. Its library is half of what a page loads, so it is
 * loaded after the page.
 */
export function Dialog(props: DialogProps) {
  const [wasOpened, setWasOpened] = useState(props.open);
  if (props.open && !wasOpened) setWasOpened(true);
  useEffect(() => void load(), []);
  if (!wasOpened) return null;
  return (
    <Suspense>
      <DialogPopup {...props} />
    </Suspense>
  );
}
