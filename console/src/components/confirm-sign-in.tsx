import { useState } from 'react';

import { toProblem } from '../api/problem.ts';
import { ask } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { CodeLine } from '../ui/copy.tsx';
import { TextField } from '../ui/field.tsx';
import styles from './confirm-sign-in.module.css';
import { useSession } from './use-page.ts';

/** The code of a link, or the text itself. */
const codeOf = (text: string): string => text.trim().replace(/^.*#in=/, '');

/** Proves again who the person is, where an action needs it. The action is then repeated by its own button. */
export function ConfirmSignIn() {
  const { person } = useSession();
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [isConfirmed, setIsConfirmed] = useState(false);
  const byPassword = person?.has_password === true;
  if (person === null) return <p>A session of a key or a token cannot do this. Sign in as a person.</p>;
  if (isConfirmed) return <p role="status">Confirmed for 15 minutes. Do it again now.</p>;
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await ask('session.confirm', { body: byPassword ? { password: text } : { code: codeOf(text) } });
      setIsConfirmed(true);
    } catch (failure) {
      setError(toProblem(failure).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    // Not a form: it can stand inside the form of the action.
    <div className={styles['form']}>
      {!byPassword && <CodeLine text={`weir console link --person ${person.name}`} label="Command that prints a link" />}
      <TextField
        label={byPassword ? 'Password' : 'The link that it prints'}
        type="password"
        autoComplete={byPassword ? 'current-password' : 'off'}
        value={text}
        error={error}
        onChange={setText}
      />
      <Button busy={busy} disabledBecause={text === '' ? 'Something is missing.' : undefined} onClick={() => void confirm()}>
        Confirm that it is you
      </Button>
    </div>
  );
}
