import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { ask, type Body } from '../../api/client.ts';
import { type ApiProblem, toProblem } from '../../api/problem.ts';
import { queryClient, question } from '../../api/query-client.ts';
import { linkFailure } from '../../api/sign-in.ts';
import { BarePage } from '../../components/bare-page.tsx';
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
    <BarePage>
      <h1>Sign in</h1>
      {linkFailure.sentence !== undefined && <Notice tone="warning">{linkFailure.sentence}</Notice>}
      {ways.isError && <Failure error={ways.error} onRetry={() => void ways.refetch()} />}
      {ways.data?.oidc != null && (
        <a className={styles['provider']} href={ways.data.oidc.start}>
          Continue with {new URL(ways.data.oidc.issuer).host}
        </a>
      )}
      {ways.data?.password === true && <PasswordForm next={next} />}
      {(ways.data?.api_key === true || ways.data?.billing_token === true) && (
        <KeyForm next={next} mayKey={ways.data.api_key} mayToken={ways.data.billing_token} />
      )}
      <section className={styles['link']}>
        <p>
          Or with a link, which works once. The start of Weir prints one, and an operator can send you one. On the machine that runs it:
        </p>
        <CodeLine text="weir console link" label="Command that prints a link" />
        <p>
          In a folder of its source, with <code>npx</code> before it.
        </p>
      </section>
    </BarePage>
  );
}

/** Signs in by a proof, and goes on to the page that was asked for. */
function useSignIn(next: string) {
  const [problem, setProblem] = useState<ApiProblem>();
  const [busy, setBusy] = useState(false);
  const signIn = async (event: FormEvent, body: Body<'session.create'>): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await ask('session.create', { body });
      queryClient.clear();
      location.assign(next);
    } catch (error) {
      setProblem(toProblem(error));
      setBusy(false);
    }
  };
  return { problem, busy, signIn };
}

type KeyFormProps = { readonly next: string; readonly mayKey: boolean; readonly mayToken: boolean };

/** For owners of a key or a billing token, who have no account. */
function KeyForm({ next, mayKey, mayToken }: KeyFormProps) {
  const [secret, setSecret] = useState('');
  const { problem, busy, signIn } = useSignIn(next);
  const label = mayKey && mayToken ? 'API key or billing token' : mayKey ? 'API key' : 'Billing token';
  // The secret of a key may be chosen by its maker; that of a token always begins so.
  const isToken = mayToken && (!mayKey || secret.startsWith('bt-weir-'));
  const submit = (event: FormEvent) => void signIn(event, isToken ? { billing_token: secret } : { api_key: secret });
  return (
    <form className={styles['form']} onSubmit={submit}>
      {problem !== undefined && <Notice tone="bad">{problem.message}</Notice>}
      <TextField
        label={label}
        help={mayKey ? 'It shows the usage, the calls and the keys of its user. It never leaves this server.' : undefined}
        name="key"
        type="password"
        autoComplete="off"
        mono
        required
        value={secret}
        onChange={(value) => setSecret(value.trim())}
      />
      <Button type="submit" busy={busy}>
        {`Sign in with ${mayKey && mayToken ? 'it' : mayKey ? 'this key' : 'this token'}`}
      </Button>
    </form>
  );
}

function PasswordForm({ next }: { readonly next: string }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const { problem, busy, signIn } = useSignIn(next);
  return (
    <form className={styles['form']} onSubmit={(event) => void signIn(event, { name, password })}>
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
