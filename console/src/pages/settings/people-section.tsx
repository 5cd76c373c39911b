import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Body, Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { question, versionedQuestion } from '../../api/query-client.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { readList } from '../../components/limits/limits-draft.ts';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useZone } from '../../components/use-page.ts';
import { showDay } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { say } from '../../ui/toasts.tsx';
import { SessionsTable } from './sessions-table.tsx';
import styles from './settings.module.css';

type Person = Reply<'people.list'>['items'][number];
const forgets = ['people', 'audit'] as const;
const roles = [
  { value: 'viewer', text: 'viewer: reads everything but content' },
  { value: 'owner', text: 'owner: the own users only' },
  { value: 'finance', text: 'finance: payments, reconciliation, staged prices' },
  { value: 'operator', text: 'operator: everything' },
] as const;

/** Who administers Weir, and how people sign in. */
export function PeopleSection() {
  const zone = useZone();
  const [isInviting, setIsInviting] = useState(false);
  const [open, setOpen] = useState<string>();
  const { data, error, refetch } = useQuery(question('people.list', {}));
  const columns: readonly Column<Person>[] = [
    { id: 'name', title: 'Name', grows: true, render: ({ name }) => name },
    { id: 'role', title: 'Role', render: ({ role }) => role },
    {
      id: 'users',
      title: 'Users',
      grows: true,
      priority: 2,
      render: ({ role, users }) => (role === 'owner' ? users.join(', ') || 'none' : 'all'),
    },
    {
      id: 'ways',
      title: 'Signs in by',
      priority: 3,
      render: ({ has_password: hasPassword, oidc }) =>
        ['link', ...(hasPassword ? ['password'] : []), ...(oidc === null ? [] : [new URL(oidc.issuer).host])].join(', '),
    },
    {
      id: 'state',
      title: 'State',
      render: ({ disabled_at: at }) =>
        at === null ? <State sign="●" word="active" tone="good" /> : <State sign="○" word="disabled" tone="muted" />,
    },
    { id: 'made', title: 'Since', priority: 3, render: ({ created_at: at }) => showDay(at, zone) },
  ];
  return (
    <div className={styles['sections']}>
      <Panel
        title="People"
        tools={
          <Button icon="plus" onClick={() => setIsInviting(true)}>
            Invite somebody
          </Button>
        }
      >
        {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton rows={4} />}
        {data !== undefined && (
          <DataTable caption="People" columns={columns} rows={data.items} keyOf={({ id }) => id} onOpen={({ id }) => setOpen(id)} />
        )}
      </Panel>
      <Ways />
      {isInviting && <Invitation onClose={() => setIsInviting(false)} />}
      {open !== undefined && <PersonDialog id={open} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

function Ways() {
  const { data } = useQuery(question('session.ways', {}));
  if (data === undefined) return null;
  const word = (on: boolean, setting: string): string => (on ? `on (${setting})` : `off (${setting})`);
  return (
    <Panel title="Ways in">
      <Facts
        rows={[
          ['Links', 'always: anyone with access to the data directory can print one with weir console link'],
          ['Passwords', word(data.password, 'console.passwords')],
          ['OpenID Connect', data.oidc === null ? 'off (console.oidc)' : data.oidc.issuer],
          ['API keys', word(data.api_key, 'console.signIn')],
          ['Billing tokens', word(data.billing_token, 'console.signIn')],
        ]}
      />
    </Panel>
  );
}

/** The link of a person, which works once. */
function LinkDialog({ link, onClose }: { readonly link: Reply<'people.link'> | undefined; readonly onClose: () => void }) {
  const zone = useZone();
  return (
    <SecretDialog title="A link that signs in once" secret={link?.url} onStored={onClose}>
      <p>Give it to this person alone. It works until {link === undefined ? '' : showDay(link.expires_at, zone)}, 15 minutes from now.</p>
    </SecretDialog>
  );
}

function Invitation({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Person['role']>('viewer');
  const [users, setUsers] = useState('');
  const list = role === 'owner' ? readList(users) : [];
  const options = list.map((user) => ` --user ${quote(user)}`).join('');
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Invite somebody"
      action="Make the person"
      operation="people.create"
      input={{ body: { name, role, ...(list.length > 0 && { users: list }) } }}
      command={`weir people create ${quote(name || 'NAME')} --role ${role}${options}`}
      forgets={forgets}
      disabledBecause={name === '' ? 'A person needs a name.' : undefined}
      onDone={(made) => say(`${made.name} is made`, 'Open the person to make a link that signs in.')}
    >
      {(errors) => (
        <>
          <TextField
            label="Name"
            help="With it the person signs in."
            value={name}
            error={errors['name']}
            required
            autoFocus
            onChange={setName}
          />
          <SelectField label="Role" value={role} options={roles} onChange={setRole} />
          {role === 'owner' && (
            <TextField label="Users" help="Names with commas." value={users} error={errors['users']} onChange={setUsers} />
          )}
        </>
      )}
    </ChangeDialog>
  );
}

type Asked = 'edit' | 'link' | 'end' | 'delete';

function PersonDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [asked, setAsked] = useState<Asked>();
  const [link, setLink] = useState<Reply<'people.link'>>();
  const { data, error } = useQuery(versionedQuestion('people.get', { params: { id } }));
  if (error !== null) return null;
  if (data === undefined) return null;
  const { body: person, version } = data;
  const shared = { open: true, onClose: () => setAsked(undefined), forgets } as const;
  return (
    <>
      <Dialog open={asked === undefined && link === undefined} onClose={onClose} title={person.name} size="large">
        <p className={styles['actions']}>
          <Button onClick={() => setAsked('edit')}>Role and users</Button>
          <Button onClick={() => setAsked('link')}>Make a link</Button>
          <Button onClick={() => setAsked('end')}>End all sessions</Button>
          <Button kind="danger" onClick={() => setAsked('delete')}>
            Remove
          </Button>
        </p>
        <SessionsTable id={id} />
      </Dialog>
      {asked === 'edit' && <Edit person={person} version={version} onClose={() => setAsked(undefined)} />}
      {asked === 'link' && (
        <ChangeDialog
          {...shared}
          title={`A link for ${person.name}`}
          action="Make it"
          operation="people.link"
          input={{ params: { id } }}
          command={`weir console link --person ${quote(person.name)}`}
          onDone={setLink}
        >
          {() => <p>Anyone with this link can sign in as {person.name}, once, within 15 minutes.</p>}
        </ChangeDialog>
      )}
      {asked === 'end' && (
        <ChangeDialog
          {...shared}
          title={`End all sessions of ${person.name}?`}
          action="End them"
          danger
          operation="people.end_sessions"
          input={{ params: { id } }}
          command={`weir people sign-out ${quote(person.name)}`}
          onDone={({ ended }) => say(`${ended} sessions have ended`)}
        >
          {() => <p>The person must sign in again everywhere.</p>}
        </ChangeDialog>
      )}
      {asked === 'delete' && (
        <ChangeDialog
          {...shared}
          title={`Remove ${person.name}?`}
          action="Remove the person"
          danger
          operation="people.delete"
          input={{ params: { id }, version }}
          command={`weir people delete ${quote(person.name)}`}
          onDone={onClose}
        >
          {() => <p>Sessions and admin tokens of the person end. The audit log keeps the name.</p>}
        </ChangeDialog>
      )}
      <LinkDialog link={link} onClose={() => setLink(undefined)} />
    </>
  );
}

function Edit({
  person,
  version,
  onClose,
}: {
  readonly person: Person;
  readonly version: string | undefined;
  readonly onClose: () => void;
}) {
  const [role, setRole] = useState(person.role);
  const [users, setUsers] = useState(person.users.join(', '));
  const [isDisabled, setIsDisabled] = useState(person.disabled_at !== null);
  const body: Body<'people.update'> = { role, users: role === 'owner' ? readList(users) : [], disabled: isDisabled };
  const options = `--role ${role}${readList(users)
    .map((user) => ` --user ${quote(user)}`)
    .join('')}${isDisabled === (person.disabled_at !== null) ? '' : isDisabled ? ' --disable' : ' --enable'}`;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Role of ${person.name}`}
      action="Save"
      operation="people.update"
      input={{ params: { id: person.id }, version, body }}
      command={`weir people update ${quote(person.name)} ${options}`}
      forgets={forgets}
      subject={`person:${person.id}`}
    >
      {(errors) => (
        <>
          <p>Another role, and disabling, end the sessions of the person.</p>
          <SelectField label="Role" value={role} options={roles} error={errors['role']} onChange={setRole} />
          {role === 'owner' && (
            <TextField label="Users" help="Names with commas." value={users} error={errors['users']} onChange={setUsers} />
          )}
          <CheckField label="Disabled: may not sign in" checked={isDisabled} onChange={setIsDisabled} />
        </>
      )}
    </ChangeDialog>
  );
}
