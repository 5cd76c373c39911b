import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { versionedQuestion } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { ContentDialog } from '../../components/content-dialog.tsx';
import { LimitsDialog } from '../../components/limits/limits-dialog.tsx';
import { useSession } from '../../components/use-page.ts';
import { useUsersFound } from '../../components/use-users-found.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';

export type Team = Reply<'teams.get'>;

type Props = { readonly team: Team; readonly version: string | undefined };
type Asked = 'limits' | 'prepaid' | 'content' | 'add' | 'delete';
const forgets = ['teams', 'users', 'standing', 'audit'] as const;

/** What can be changed about a team, for those who may. */
export function TeamActions({ team, version }: Props) {
  const mayWrite = may(useSession(), 'limits:write');
  const [asked, setAsked] = useState<Asked>();
  if (!mayWrite) return null;
  const close = (): void => setAsked(undefined);
  const shared = { params: { name: team.name }, version, subject: `team:${team.name}`, forgets } as const;
  return (
    <>
      <Button onClick={() => setAsked('add')}>Add a user</Button>
      <Button onClick={() => setAsked('limits')}>Limits</Button>
      <Button onClick={() => setAsked('prepaid')}>{team.prepaid ? 'Make it postpaid' : 'Make it prepaid'}</Button>
      <Button onClick={() => setAsked('content')}>Content</Button>
      <Button
        kind="danger"
        icon="trash"
        disabledBecause={team.users.length === 0 ? undefined : 'Users are in it: move them first.'}
        onClick={() => setAsked('delete')}
      >
        Delete
      </Button>
      <LimitsDialog
        open={asked === 'limits'}
        onClose={close}
        whose={team.name}
        limits={team.limits}
        operation="teams.update"
        command={`weir teams update ${quote(team.name)}`}
        {...shared}
      />
      {asked === 'content' && (
        <ContentDialog
          onClose={close}
          whose={quote(team.name)}
          content={team.content}
          otherwise="nothing"
          operation="teams.update"
          {...shared}
        />
      )}
      {asked === 'prepaid' && <PrepaidDialog team={team} version={version} onClose={close} />}
      {asked === 'add' && <AddDialog team={team} onClose={close} />}
      {asked === 'delete' && <DeleteDialog team={team} version={version} onClose={close} />}
    </>
  );
}

function PrepaidDialog({ team, version, onClose }: Props & { readonly onClose: () => void }) {
  const prepaid = !team.prepaid;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Make ${team.name} ${prepaid ? 'prepaid' : 'postpaid'}?`}
      action={prepaid ? 'Make it prepaid' : 'Make it postpaid'}
      operation="teams.update"
      input={{ params: { name: team.name }, version, body: { prepaid } }}
      command={`weir teams update ${quote(team.name)} --${prepaid ? '' : 'no-'}prepaid`}
      forgets={forgets}
      subject={`team:${team.name}`}
    >
      {() => (
        <p>
          {prepaid
            ? `Calls of its users are refused from now on if its balance (${team.balance?.usd ?? 'unknown'} USD) does not cover them, unless the user is prepaid itself.`
            : 'Calls of its users are no longer refused for its balance.'}
        </p>
      )}
    </ChangeDialog>
  );
}

function AddDialog({ team, onClose }: { readonly team: Team; readonly onClose: () => void }) {
  const { users, oldest = [], isWhole, find } = useUsersFound();
  const isOther = (user: { readonly team: string | null }): boolean => user.team !== team.name;
  const others = users?.filter(isOther) ?? [];
  const [chosen, setChosen] = useState('');
  const name = chosen === '' ? (oldest.find(isOther)?.name ?? '') : chosen;
  const user = useQuery({ ...versionedQuestion('users.get', { params: { name } }), enabled: name !== '' });
  const former = user.data?.body.team;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Add a user to ${team.name}`}
      action={`Put ${name || 'it'} into ${team.name}`}
      operation="users.update"
      input={{ params: { name }, version: user.data?.version, body: { team: team.name } }}
      command={`weir teams add ${quote(team.name)} ${quote(name || 'USER')}`}
      forgets={forgets}
      subject={`user:${name}`}
      disabledBecause={
        users !== undefined && isWhole && others.length === 0
          ? 'All users are in this team.'
          : user.data === undefined
            ? 'The user is being read.'
            : undefined
      }
      onDone={() => say(`${name} is in ${team.name}`)}
    >
      {() => (
        <>
          <p>From its next call on, the limits of {team.name} hold for all its keys.</p>
          <ChoiceField
            label="User"
            value={name}
            text={name}
            offered={others.map((each) => ({ value: each.name, text: each.name }))}
            onType={find}
            onChange={setChosen}
            {...{ isWhole }}
          />
          {former != null && former !== team.name && <p>It leaves the team {former}: a user is in one team at a time.</p>}
        </>
      )}
    </ChangeDialog>
  );
}

function DeleteDialog({ team, version, onClose }: Props & { readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Delete the team ${team.name}?`}
      action="Delete the team"
      danger
      operation="teams.delete"
      input={{ params: { name: team.name }, version }}
      command={`weir teams delete ${quote(team.name)}`}
      forgets={['teams.list', 'users', 'search']}
      onDone={() => {
        say(`The team ${team.name} is deleted`);
        void navigate({ to: paths.teams });
      }}
    >
      {() => <p>Its calls keep its name in the books. This cannot be undone.</p>}
    </ChangeDialog>
  );
}
