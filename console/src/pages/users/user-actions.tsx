import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { LimitsDialog } from '../../components/limits/limits-dialog.tsx';
import { useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import { showCount } from '../../format/numbers.ts';

export type User = Reply<'users.get'>;

type Props = { readonly user: User; readonly version: string | undefined };
type Dialog = 'limits' | 'team' | 'prepaid' | 'disable';
/** Kinds of answers that a change of a user concerns. */
const forgets = ['users', 'teams', 'standing', 'audit'] as const;

/** What can be changed about a user, for those who may. */
export function UserActions({ user, version }: Props) {
  const session = useSession();
  const [open, setOpen] = useState<Dialog>();
  const close = (): void => setOpen(undefined);
  const shared = { user, version, onClose: close };
  return (
    <>
      {may(session, 'limits:write') && (
        <>
          <Button onClick={() => setOpen('limits')}>Limits</Button>
          <Button onClick={() => setOpen('team')}>Team</Button>
          <Button onClick={() => setOpen('prepaid')}>{user.prepaid ? 'Make it postpaid' : 'Make it prepaid'}</Button>
          <LimitsDialog
            open={open === 'limits'}
            onClose={close}
            whose={user.name}
            limits={user.limits}
            operation="users.update"
            params={{ name: user.name }}
            version={version}
            subject={`user:${user.name}`}
            command={`weir users update ${quote(user.name)}`}
            forgets={forgets}
          />
          {open === 'team' && <TeamDialog {...shared} />}
          {open === 'prepaid' && <PrepaidDialog {...shared} />}
        </>
      )}
      {may(session, 'keys:write') && (
        <>
          <Button kind="danger" onClick={() => setOpen('disable')}>
            Disable its keys
          </Button>
          {open === 'disable' && <DisableDialog name={user.name} onClose={close} />}
        </>
      )}
    </>
  );
}

type DialogProps = Props & { readonly onClose: () => void };

function TeamDialog({ user, version, onClose }: DialogProps) {
  const teams = useQuery(question('teams.list', {}));
  const [team, setTeam] = useState(user.team ?? '');
  const isSame = team === (user.team ?? '');
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Team of ${user.name}`}
      action={team === '' ? 'Take it out of its team' : `Put it into ${team}`}
      operation="users.update"
      input={{ params: { name: user.name }, version, body: { team: team === '' ? null : team } }}
      command={`weir users update ${quote(user.name)} --team ${team === '' ? 'none' : quote(team)}`}
      forgets={forgets}
      subject={`user:${user.name}`}
      disabledBecause={isSame ? 'It is there already.' : undefined}
      onDone={() => say(team === '' ? `${user.name} is in no team` : `${user.name} is in ${team}`)}
    >
      {(errors) => (
        <>
          <p>From its next call on, the limits and the balance of the new team hold. What it has spent stays with the old one.</p>
          <SelectField
            label="Team"
            value={team}
            error={errors['team']}
            options={[{ value: '', text: 'none' }, ...(teams.data?.items ?? []).map(({ name }) => ({ value: name, text: name }))]}
            onChange={setTeam}
          />
        </>
      )}
    </ChangeDialog>
  );
}

function PrepaidDialog({ user, version, onClose }: DialogProps) {
  const prepaid = !user.prepaid;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Make ${user.name} ${prepaid ? 'prepaid' : 'postpaid'}?`}
      action={prepaid ? 'Make it prepaid' : 'Make it postpaid'}
      operation="users.update"
      input={{ params: { name: user.name }, version, body: { prepaid } }}
      command={`weir users update ${quote(user.name)} --${prepaid ? '' : 'no-'}prepaid`}
      forgets={forgets}
      subject={`user:${user.name}`}
      onDone={() => say(prepaid ? `${user.name} is prepaid` : `${user.name} is postpaid`)}
    >
      {() => (
        <p>
          {prepaid
            ? `A call is refused from now on if the balance (${user.balance?.usd ?? 'unknown'} USD) does not cover the most that it may cost. What it owes already counts.`
            : 'Calls are no longer refused for the balance. It may fall below zero: this is what the user owes.'}
        </p>
      )}
    </ChangeDialog>
  );
}

const batchMax = 200;

function DisableDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const keys = useQuery(question('keys.list', { query: { user: name, state: 'enabled', limit: batchMax } }));
  const ids = keys.data?.items.map(({ id }) => id) ?? [];
  const names = keys.data?.items.map((key) => `${key.user}/${key.name}`) ?? [];
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Disable all keys of ${name}?`}
      action={`Disable ${ids.length === 1 ? 'the key' : `${showCount(ids.length)} keys`}`}
      danger
      operation="keys.batch"
      input={{ body: { ids, disabled: true } }}
      command={`weir keys disable ${names.map(quote).join(' ')}`}
      forgets={['keys', 'audit']}
      disabledBecause={keys.data === undefined ? 'Its keys are being read.' : ids.length === 0 ? 'It has no enabled key.' : undefined}
      onDone={({ results }) => say(`${results.filter(({ outcome }) => outcome === 'changed').length} keys of ${name} are disabled`)}
    >
      {() => (
        <>
          <p>New calls are refused within a second; calls under way are finished. Each key can be enabled again. Its books stay.</p>
          <p>{names.join(', ')}</p>
          {keys.data?.next_cursor != null && <p>There are more keys than {batchMax}: repeat this for the rest.</p>}
        </>
      )}
    </ChangeDialog>
  );
}
