import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';

/** The secret with which a receiver checks that an event is from here: it can be read and replaced. */
export function CallbackSecret({ user }: { readonly user: string }) {
  const mayRead = may(useSession(), 'keys:write');
  const [open, setOpen] = useState<'read' | 'rotate'>();
  const [secret, setSecret] = useState<string>();
  if (!mayRead) return null;
  const shared = {
    open: true,
    onClose: () => setOpen(undefined),
    input: { params: { name: user } },
    command: `weir callbacks secret ${quote(user)}`,
    forgets: ['audit'],
    onDone: (done: { readonly secret: string }) => setSecret(done.secret),
  };
  return (
    <div>
      <Button onClick={() => setOpen('read')}>Show the secret that signs</Button>{' '}
      <Button onClick={() => setOpen('rotate')}>Make a new secret</Button>
      {open === 'read' && (
        <ChangeDialog {...shared} operation="callbacks.read_secret" title={`The secret that signs events of ${user}`} action="Show it">
          {() => <p>A receiver checks signatures with it. That you read it will be in the audit log.</p>}
        </ChangeDialog>
      )}
      {open === 'rotate' && (
        <ChangeDialog {...shared} operation="callbacks.rotate_secret" title={`A new secret for events of ${user}`} action="Make it">
          {() => <p>Events are signed by both secrets for 24 hours, so that receivers have time to change.</p>}
        </ChangeDialog>
      )}
      <SecretDialog title={`Secret of ${user}`} secret={secret} isKept onStored={() => setSecret(undefined)}>
        <p>The receiver of callbacks compares the header webhook-signature with it.</p>
      </SecretDialog>
    </div>
  );
}
