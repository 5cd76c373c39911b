import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';

import type { DialogProps } from './dialog-popup.tsx';
import { loadAgain } from './load-again.ts';

const load = loadAgain(() => import('./dialog-popup.tsx'));
const DialogPopup = lazy(() => load().then(({ DialogPopup: component }) => ({ default: component })));

/**
 * The control that had the focus when the dialog was opened. A field of the dialog may have it before the library looks.
 * A dialog that is taken away while it is open gives the focus back too.
 */
function useOpener(open: boolean): () => HTMLElement | undefined {
  const opener = useRef<Element | null>(null);
  const isOpen = useRef(false);
  if (open && !isOpen.current) opener.current = document.activeElement;
  isOpen.current = open;
  const find = useCallback((): HTMLElement | undefined => {
    const { current } = opener;
    return current instanceof HTMLElement && current.isConnected && current !== document.body ? current : undefined;
  }, []);
  useEffect(
    () => () => {
      // After the library has let go of it.
      if (isOpen.current) setTimeout(() => document.activeElement === document.body && find()?.focus());
    },
    [find],
  );
  return find;
}

/**
 * A dialog. The focus goes into it and returns to where it was. Its library is half of what a page loads, so it is
 * loaded after the page.
 */
export function Dialog(props: DialogProps) {
  const [wasOpened, setWasOpened] = useState(props.open);
  if (props.open && !wasOpened) setWasOpened(true);
  useEffect(() => void load(), []);
  const findOpener = useOpener(props.open);
  if (!wasOpened) return null;
  return (
    <Suspense>
      <DialogPopup {...props} findOpener={findOpener} />
    </Suspense>
  );
}
