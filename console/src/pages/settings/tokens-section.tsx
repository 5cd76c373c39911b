import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { readList } from '../../components/limits/limits-draft.ts';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useZone } from '../../components/use-page.ts';
import { showDay, showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './settings.module.css';

type Kind = 'admin_tokens' | 'billing_tokens';
/** What both kinds of tokens have. */
type Token = {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
};
const commands = { admin_tokens: 'admin-tokens', billing_tokens: 'tokens' } as const;

/** Tokens of programs: for the admin API, and for the monitor. */
export function TokensSection() {
  const admin = useQuery(question('admin_tokens.list', {}));
  const billing = useQuery(question('billing_tokens.list', {}));
  return (
    <div className={styles['sections']}>
      <Tokens
        kind="admin_tokens"
        title="Admin tokens"
        error={admin.error}
        rows={admin.data?.items.map((token) => ({ ...token, scope: token.permissions.join(', ') }))}
      />
      <Tokens
        kind="billing_tokens"
        title="Billing tokens"
        error={billing.error}
        rows={billing.data?.items.map((token) => ({ ...token, scope: token.user ?? 'all calls' }))}
      />
    </div>
  );
}

type Props = { readonly kind: Kind; readonly title: string; readonly rows: readonly Token[] | undefined; readonly error: Error | null };

function Tokens({ kind, title, rows, error }: Props) {
  const zone = useZone();
  const [isMaking, setIsMaking] = useState(false);
  const [asked, setAsked] = useState<{ readonly what: 'rotate' | 'delete'; readonly token: Token }>();
  const [secret, setSecret] = useState<string>();
  const columns: readonly Column<Token>[] = [
    { id: 'name', title: 'Name', grows: true, render: ({ name }) => name },
    { id: 'scope', title: 'May', priority: 2, render: ({ scope }) => <span title={scope}>{scope}</span> },
    { id: 'used', title: 'Last used', priority: 3, render: ({ last_used_at: at }) => (at === null ? 'never' : showMinute(at, zone)) },
    { id: 'expires', title: 'Expires', render: ({ expires_at: at }) => (at === null ? 'never' : showDay(at, zone)) },
    {
      id: 'actions',
      title: 'Actions',
      render: (token) => (
        <>
          <Button kind="quiet" icon="refresh" label={`Rotate ${token.name}`} onClick={() => setAsked({ what: 'rotate', token })} />
          <Button kind="quiet" icon="trash" label={`End ${token.name}`} onClick={() => setAsked({ what: 'delete', token })} />
        </>
      ),
    },
  ];
  const shared = { open: true, onClose: () => setAsked(undefined), forgets: [kind, 'audit'] } as const;
  return (
    <Panel
      title={title}
      tools={
        <Button icon="plus" onClick={() => setIsMaking(true)}>
          {kind === 'admin_tokens' ? 'New admin token' : 'New billing token'}
        </Button>
      }
    >
      {error !== null && <Failure error={error} />}
      {rows === undefined && error === null && <Skeleton rows={3} />}
      {rows?.length === 0 && <Empty title="There is none." line={`weir ${commands[kind]} create --name ci`} />}
      {rows !== undefined && rows.length > 0 && <DataTable caption={title} columns={columns} rows={rows} keyOf={({ id }) => id} />}
      {isMaking && <NewToken kind={kind} onClose={() => setIsMaking(false)} onMade={setSecret} />}
      {asked?.what === 'rotate' && (
        <ChangeDialog
          {...shared}
          title={`Rotate ${asked.token.name}`}
          action="Make a new secret"
          operation={`${kind}.rotate` as const}
          input={{ params: { id: asked.token.id }, body: { overlap_s: 86_400 } }}
          command={`weir ${commands[kind]} rotate ${quote(asked.token.name)} --overlap 24h`}
          onDone={(done) => setSecret(done.secret)}
        >
          {() => <p>The old secret works for one more day.</p>}
        </ChangeDialog>
      )}
      {asked?.what === 'delete' && (
        <ChangeDialog
          {...shared}
          title={`End ${asked.token.name}?`}
          action="End the token"
          danger
          operation={`${kind}.delete` as const}
          input={{ params: { id: asked.token.id } }}
          command={`weir ${commands[kind]} delete ${quote(asked.token.name)}`}
        >
          {() => <p>Programs that use it are refused from now on. This cannot be undone.</p>}
        </ChangeDialog>
      )}
      <SecretDialog title="New secret" secret={secret} onStored={() => setSecret(undefined)} />
    </Panel>
  );
}

type NewProps = { readonly kind: Kind; readonly onClose: () => void; readonly onMade: (secret: string) => void };

function NewToken({ kind, onClose, onMade }: NewProps) {
  const [name, setName] = useState('');
  const [users, setUsers] = useState('');
  const [permissions, setPermissions] = useState('');
  const list = readList(users);
  const asked = readList(permissions);
  const isAdmin = kind === 'admin_tokens';
  const body = isAdmin
    ? { name, ...(list.length > 0 && { users: list }), ...(asked.length > 0 && { permissions: asked }) }
    : { name, ...(users !== '' && { user: users }) };
  const options = `${asked.map((each) => ` --permission ${quote(each)}`).join('')}${(isAdmin ? list : users === '' ? [] : [users]).map((user) => ` --user ${quote(user)}`).join('')}`;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={isAdmin ? 'New admin token' : 'New billing token'}
      action="Make the token"
      operation={`${kind}.create` as const}
      input={{ body }}
      command={`weir ${commands[kind]} create --name ${quote(name || 'NAME')}${options}`}
      forgets={[kind, 'audit']}
      disabledBecause={name === '' ? 'A token needs a name.' : undefined}
      onDone={(made) => onMade(made.secret)}
    >
      {(errors) => (
        <>
          <TextField label="Name" value={name} error={errors['name']} required autoFocus onChange={setName} />
          {isAdmin && (
            <TextField
              label="Permissions"
              help="With commas: usage:read, keys:write. Empty: all of yours that need no recent sign-in. It lasts 90 days."
              value={permissions}
              error={errors['permissions'] ?? errors['permissions.0']}
              onChange={setPermissions}
            />
          )}
          <TextField
            label={isAdmin ? 'Users' : 'User'}
            help={isAdmin ? 'With commas. Empty: all that you see.' : 'Empty: the token reads all calls.'}
            value={users}
            error={errors['users'] ?? errors['user']}
            onChange={setUsers}
          />
        </>
      )}
    </ChangeDialog>
  );
}
