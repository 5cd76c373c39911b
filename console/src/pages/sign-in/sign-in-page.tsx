import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { ask } from '../../api/client.ts';
import { type ApiProblem, toProblem } from '../../api/problem.ts';
import { queryClient, question } from '../../api/query-client.ts';
import { linkFailure } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { CodeLine } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import styles from './sign-in-page.module.css';

/** Where to go after the sign-in: a path of this console, never another site. */
function nextPath(wanted: string | undefined): string {
  if (wanted === undefined || !wanted.startsWith('/') || wanted.startsWith('//') || wanted.startsWith('/\\')) return '/';
  return wanted.startsWith('/sign-in') ? '/' : wanted;
}

export function SignInPage() {
  const [search] = useAddress();
  const ways = useQuery(question('session.ways', {}));
  const next = nextPath(one(search, 'to'));
  return (
    <main className={styles['page']}>
      <div className={styles['box']}>
        <p className={styles['brand']}>
          <img src="/icon.svg" width="28" height="28" alt="" /> Weir
        </p>
        <h1>Sign in</h1>
        {linkFailure.sentence !== undefined && <Notice tone="warning">{linkFailure.sentence}</Notice>}
        {ways.isError && <Failure error={ways.error} onRetry={() => void ways.refetch()} />}
        {ways.data?.oidc != null && (
          <a className={styles['provider']} href={ways.data.oidc.start}>
            Continue with {new URL(ways.data.oidc.issuer).host}
          </a>
        )}
        {ways.data?.password === true && <PasswordForm next={next} />}
        <section className={styles['link']}>
          <p>Or with a link, which works once. On the machine that runs Weir:</p>
          <CodeLine text="weir console link" label="Command that prints a link" />
        </section>
      </div>
    </main>
  );
}

function PasswordForm({ next }: { readonly next: string }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<ApiProblem>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await ask('session.create', { body: { name, password } });
      queryClient.clear();
      location.assign(next);
    } catch (error) {
      setProblem(toProblem(error));
      setBusy(false);
    }
  };
  return (
    <form className={styles['form']} onSubmit={(event) => void submit(event)}>
      {problem !== undefined && <Notice tone="bad">{problem.message}</Notice>}
      <TextField label="Name" name="username" autoComplete="username" required value={name} onChange={setName} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
      />
      <Button kind="main" type="submit" busy={busy}>
        Sign in
      </Button>
    </form>
  );
}
