import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { changeOf, emptyDraft, optionsOf } from '../../components/limits/limits-draft.ts';
import { LimitsFields } from '../../components/limits/limits-fields.tsx';
import { useZone } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';

/** Makes a user, in a team or not, with limits or not. */
export function NewUserDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return open ? <Editor onClose={onClose} /> : null;
}

function Editor({ onClose }: { readonly onClose: () => void }) {
  const zone = useZone();
  const navigate = useNavigate();
  const teams = useQuery(question('teams.list', {}));
  const [name, setName] = useState('');
  const [team, setTeam] = useState('');
  const [prepaid, setPrepaid] = useState(false);
  const [draft, setDraft] = useState(emptyDraft);
  const limits = changeOf(emptyDraft, draft, zone);
  const body = {
    name,
    ...(team !== '' && { team }),
    ...(prepaid && { prepaid }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
  const command = `weir users create ${quote(name || 'NAME')}${team === '' ? '' : ` --team ${quote(team)}`}${prepaid ? ' --prepaid' : ''}`;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="New user"
      action="Make the user"
      operation="users.create"
      input={{ body }}
      command={`${command}${optionsOf(limits)}`}
      forgets={['users', 'teams', 'search']}
      disabledBecause={name === '' ? 'A user needs a name.' : undefined}
      onDone={(made) => void navigate({ to: paths.user(made.name) })}
    >
      {(errors) => (
        <>
          <TextField
            label="Name"
            help="A person, a program or a customer who owns keys and pays. The books name it, so it is never deleted."
            value={name}
            error={errors['name']}
            required
            autoFocus
            onChange={setName}
          />
          <SelectField
            label="Team"
            value={team}
            options={[{ value: '', text: 'none' }, ...(teams.data?.items ?? []).map((each) => ({ value: each.name, text: each.name }))]}
            onChange={setTeam}
          />
          <CheckField
            label="Prepaid"
            help="Calls are paid from its balance, and refused if it does not cover them."
            checked={prepaid}
            onChange={setPrepaid}
          />
          <details>
            <summary>Limits of all its keys together</summary>
            <LimitsFields draft={draft} onChange={setDraft} errors={errors} />
          </details>
        </>
      )}
    </ChangeDialog>
  );
}
