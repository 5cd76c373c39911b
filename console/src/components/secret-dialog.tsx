import type { ReactNode } from 'react';

import { Button } from '../ui/button.tsx';
import { CodeLine } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Notice } from '../ui/notice.tsx';

type Props = {
  readonly title: string;
  readonly secret: string | undefined;
  readonly children?: ReactNode;
  /** The secret can be read again; without this it is shown once. */
  readonly isKept?: boolean;
  readonly onStored: () => void;
};

/** A secret. Neither Escape nor a click beside it closes it. */
export function SecretDialog({ title, secret, children, isKept = false, onStored }: Props) {
  return (
    <Dialog
      open={secret !== undefined}
      onClose={onStored}
      title={title}
      stays
      actions={
        <Button kind="main" onClick={onStored}>
          I have stored it
        </Button>
      }
    >
      {!isKept && <Notice tone="warning">This is the only time that it is shown. Weir keeps a hash of it alone.</Notice>}
      {secret !== undefined && <CodeLine text={secret} label="Secret" />}
      {children}
    </Dialog>
  );
}
